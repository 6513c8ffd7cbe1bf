import { defineModule } from '../../engine/module.ts';
import { sshGroupSizeName, sshRsaKeyName } from '../../knowledge/probes/remote-access.ts';
import { serverBytes } from '../../knowledge/protocols/probe-session.ts';
import { parseSsh, type SshFacts } from '../../knowledge/protocols/ssh.ts';
import { parseBanners } from './banner-parser.ts';

export default defineModule({
  name: 'ssh_parser',
  type: 'parser',
  version: '1.0.0',
  description: 'Parses the identification line and the algorithm lists of SSH servers.',
  options: {},
  requires: ['banners'],
  provides: ['parsed_services'],
  async execute(ctx, data) {
    await parseBanners(ctx, data, 'ssh_parser', (banner) => {
      const record = parseSsh(serverBytes(banner));
      const ssh = record && factsShown(banner.probe, record.facts);
      return record && ssh && { service: 'ssh', attributes: { ssh }, truncated: record.truncated };
    });
  },
});

/** The response to a follow-up request adds one fact; the rest was published before. */
function factsShown(probe: string, facts: SshFacts): Partial<SshFacts> | null {
  const { host_keys: keys, shortest_group } = facts;
  if (probe === sshRsaKeyName) return keys?.[0]?.type === 'ssh-rsa' ? { rsa_host_key: keys[0] } : null;
  if (probe === sshGroupSizeName) return shortest_group === undefined ? null : { shortest_group };
  return facts;
}
