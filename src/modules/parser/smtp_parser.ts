import { defineModule } from '../../engine/module.ts';
import { isSecure, serverBytes } from '../../knowledge/protocols/probe-session.ts';
import { parseSmtp } from '../../knowledge/protocols/smtp.ts';
import { parseBanners } from './banner-parser.ts';

export default defineModule({
  name: 'smtp_parser',
  type: 'parser',
  version: '1.0.0',
  description: 'Parses greeting, EHLO extensions, STARTTLS and AUTH methods of mail servers.',
  options: {},
  requires: ['banners'],
  provides: ['parsed_services'],
  async execute(ctx, data) {
    await parseBanners(ctx, data, 'smtp_parser', (banner) => {
      const record = parseSmtp(serverBytes(banner));
      if (!record) return null;
      const service = isSecure(banner) ? 'smtps' : 'smtp';
      return { service, attributes: { smtp: record.facts }, truncated: record.truncated };
    });
  },
});
