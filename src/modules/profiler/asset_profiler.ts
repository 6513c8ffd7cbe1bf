import type { AssetProfile } from '../../domain/asset.ts';
import type { Port } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { forEachItem } from '../../engine/each.ts';
import { defineModule } from '../../engine/module.ts';
import { HostTraits, TraitTable } from '../../knowledge/host-traits.ts';

export default defineModule({
  name: 'asset_profiler',
  type: 'profiler',
  version: '1.0.0',
  description: 'Puts one profile per host together: operating system, applications and functions.',
  options: {},
  requires: ['service_fingerprints', 'open_ports'],
  provides: ['asset_profiles'],
  async execute(ctx, data) {
    const hosts = new Map<string, HostTraits>();
    const table = new TraitTable();
    const traitsOf = (host: string): HostTraits => {
      const known = hosts.get(host) ?? new HostTraits(host, table);
      hosts.set(host, known);
      return known;
    };
    // Both streams are drained together: a producer must never wait for a reader that waits for another one.
    await Promise.all([
      forEachItem(ctx, data.stream<Port>('open_ports'), { concurrency: 1 }, (port) =>
        traitsOf(port.host).addPort(port),
      ),
      forEachItem(ctx, data.stream<Fingerprint>('service_fingerprints'), { concurrency: 1 }, (fingerprint) =>
        traitsOf(fingerprint.host).addFingerprint(fingerprint),
      ),
    ]);
    for (const traits of hosts.values()) {
      ctx.signal.throwIfAborted();
      await data.append<AssetProfile>('asset_profiles', traits.profile());
    }
  },
});
