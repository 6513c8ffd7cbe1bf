import type { ProfilePart } from '../../domain/asset.ts';
import type { Host, Port } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { defineModule } from '../../engine/module.ts';
import type { HostFact } from '../../knowledge/hosts/host-facts.ts';
import { HostTraits, TraitTable } from '../../knowledge/hosts/host-traits.ts';
import { targetNames } from '../target-names.ts';
import { hostKeys, readHosts } from './host-reading.ts';

export default defineModule({
  name: 'asset_profiler',
  type: 'profiler',
  version: '1.2.0',
  description:
    'Builds one profile per host: names, applications, functions, and the identity that survives a change of address.',
  options: {},
  requires: ['service_fingerprints', 'open_ports'],
  provides: ['asset_profiles'],
  reads: [...hostKeys, 'targets'],
  async execute(ctx, data) {
    const table = new TraitTable();
    const reading = readHosts(ctx, data, (host) => {
      const traits = new HostTraits(host, table);
      return {
        traits,
        host: (item: Host) => traits.addHost(item),
        port: (item: Port) => traits.addPort(item),
        fingerprint: (item: Fingerprint) => traits.addFingerprint(item),
        fact: (item: HostFact) => traits.addFact(item),
        acceptsAll: () => traits.acceptsAllPorts(),
      };
    });
    const [readers, names] = await Promise.all([reading, targetNames(data)]);
    for (const [host, { traits }] of readers) {
      ctx.signal.throwIfAborted();
      for (const hostname of names.get(host) ?? []) traits.addHost({ hostname });
      await data.append<ProfilePart>('asset_profiles', traits.profile());
    }
  },
});
