import { defineModule } from '../../engine/module.ts';
import { furtherNames } from '../../knowledge/probes/probes.ts';
import { parseTls } from '../../knowledge/protocols/tls.ts';
import { observedService } from '../../knowledge/rules/claims.ts';
import { parseBanners } from './banner-parser.ts';

export default defineModule({
  name: 'tls_parser',
  type: 'parser',
  version: '1.0.0',
  description: 'Parses protocol version, cipher, ALPN and certificates of TLS handshakes.',
  options: {},
  requires: ['banners'],
  provides: ['parsed_services'],
  async execute(ctx, data) {
    await parseBanners(ctx, data, 'tls_parser', (banner) => {
      if (!banner.tls || furtherNames.has(banner.probe)) return null;
      const record = parseTls(banner.tls);
      const service = observedService(banner) ?? 'tls';
      return { service, attributes: { tls: record.facts }, truncated: record.truncated };
    });
  },
});
