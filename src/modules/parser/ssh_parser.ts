import { defineModule } from '../../engine/module.ts';
import { serverBytes } from '../../knowledge/protocols/dialogue.ts';
import { parseSsh } from '../../knowledge/protocols/ssh.ts';
import { parseBanners } from './banner-parser.ts';

export default defineModule({
  name: 'ssh_parser',
  type: 'parser',
  version: '1.0.0',
  description: 'Reads the identification line and the algorithm lists of SSH servers.',
  options: {},
  requires: ['banners'],
  provides: ['parsed_services'],
  async execute(ctx, data) {
    await parseBanners(ctx, data, 'ssh_parser', (banner) => {
      const record = parseSsh(serverBytes(banner));
      return record && { service: 'ssh', attributes: { ssh: record.facts }, truncated: record.truncated };
    });
  },
});
