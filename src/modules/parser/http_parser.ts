import { defineModule } from '../../engine/module.ts';
import { furtherNames } from '../../knowledge/probes/probes.ts';
import { bodyLimit, parseHttp } from '../../knowledge/protocols/http.ts';
import { isSecure, serverBytes } from '../../knowledge/protocols/probe-session.ts';
import { faviconName, iconPrints } from '../../knowledge/requests/favicon.ts';
import { parseBanners } from './banner-parser.ts';

export default defineModule({
  name: 'http_parser',
  type: 'parser',
  version: '1.0.0',
  description:
    'Parses status, headers, title, redirects, cookie names, authentication, icon and technologies of HTTP responses.',
  options: {
    max_body: {
      Type: 'int',
      Description: 'Maximum bytes of a body to parse, after decompression.',
      Default: bodyLimit,
      Min: 0,
      Max: 16 * 1024 * 1024,
    },
  },
  requires: ['banners'],
  provides: ['parsed_services'],
  async execute(ctx, data) {
    await parseBanners(ctx, data, 'http_parser', (banner) => {
      // SSDP looks similar, and the response to a follow-up request is not the page of the port.
      const isIcon = banner.probe === faviconName;
      if (banner.protocol === 'udp' || (furtherNames.has(banner.probe) && !isIcon)) return null;
      const record = parseHttp(serverBytes(banner), ctx.options.max_body, banner.probe === 'http');
      if (!record) return null;
      const service = isSecure(banner) ? 'https' : 'http';
      if (isIcon) {
        const favicon = iconPrints(record);
        return favicon && { service, attributes: { http: { favicon } }, truncated: false };
      }
      return { service, attributes: { http: record.facts }, truncated: record.truncated };
    });
  },
});
