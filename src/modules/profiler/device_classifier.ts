import type { ProfilePart } from '../../domain/asset.ts';
import type { Port } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { defineModule } from '../../engine/module.ts';
import { DeviceClaims, deviceClaimsOfFact, deviceClaimsOfSystem } from '../../knowledge/hosts/host-device.ts';
import type { HostFact } from '../../knowledge/hosts/host-facts.ts';
import { systemClaimsOfFact, systemClaimsOfFingerprint } from '../../knowledge/hosts/host-system.ts';
import { hostKeys, readHosts } from './host-reading.ts';

export default defineModule({
  name: 'device_classifier',
  type: 'profiler',
  version: '1.0.0',
  description:
    'Determines the kind of every host: server, router, printer, camera and others, with the evidence.',
  options: {},
  requires: ['service_fingerprints', 'open_ports'],
  provides: ['asset_profiles'],
  reads: hostKeys,
  async execute(ctx, data) {
    const readers = await readHosts(ctx, data, () => {
      const claims = new DeviceClaims();
      return {
        claims,
        port: ({ port, protocol, state }: Port) => {
          if (state === 'open') claims.addPort(`${port}/${protocol}`);
        },
        fingerprint: (item: Fingerprint) => {
          claims.addService(item.match);
          claims.add(systemClaimsOfFingerprint(item).flatMap(deviceClaimsOfSystem));
        },
        fact: (item: HostFact) => {
          claims.add(deviceClaimsOfFact(item));
          claims.add(systemClaimsOfFact(item).flatMap(deviceClaimsOfSystem));
        },
        acceptsAll: () => claims.acceptAll(),
      };
    });
    for (const [host, { claims }] of readers) {
      ctx.signal.throwIfAborted();
      const evidence = claims.evidence();
      await data.append<ProfilePart>('asset_profiles', {
        host,
        device_type: claims.verdict(),
        ...(evidence.length === 0 ? {} : { device_evidence: evidence }),
      });
    }
  },
});
