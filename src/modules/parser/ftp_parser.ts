import { defineModule } from '../../engine/module.ts';
import { parseFtp } from '../../knowledge/protocols/ftp.ts';
import { isSecure, sentRequests, serverBytes } from '../../knowledge/protocols/probe-session.ts';
import { parseBanners } from './banner-parser.ts';

export default defineModule({
  name: 'ftp_parser',
  type: 'parser',
  version: '1.0.0',
  description: 'Parses greeting, features, system and AUTH TLS of file servers.',
  options: {},
  requires: ['banners'],
  provides: ['parsed_services'],
  async execute(ctx, data) {
    await parseBanners(ctx, data, 'ftp_parser', (banner) => {
      const record = parseFtp(serverBytes(banner), sentRequests(banner));
      if (!record) return null;
      const service = isSecure(banner) ? 'ftps' : 'ftp';
      return { service, attributes: { ftp: record.facts }, truncated: record.truncated };
    });
  },
});
