import type { ProfilePart } from '../../domain/asset.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { defineModule } from '../../engine/module.ts';
import type { HostFact } from '../../knowledge/hosts/host-facts.ts';
import {
  SystemClaims,
  systemClaimsOfFact,
  systemClaimsOfFingerprint,
} from '../../knowledge/hosts/host-system.ts';
import { hostKeys, readHosts } from './host-reading.ts';

export default defineModule({
  name: 'os_classifier',
  type: 'profiler',
  version: '1.0.0',
  description: 'Determines the operating system of every host, with all evidence for and against it.',
  options: {
    min_confidence: {
      Type: 'int',
      Description: 'Minimum confidence to name a system, in percent.',
      Default: 50,
      Min: 0,
      Max: 100,
    },
  },
  requires: ['service_fingerprints', 'open_ports'],
  provides: ['asset_profiles'],
  reads: hostKeys,
  async execute(ctx, data) {
    const readers = await readHosts(ctx, data, () => {
      const claims = new SystemClaims();
      return {
        claims,
        fingerprint: (item: Fingerprint) => claims.add(systemClaimsOfFingerprint(item)),
        fact: (item: HostFact) => claims.add(systemClaimsOfFact(item)),
      };
    });
    for (const [host, { claims }] of readers) {
      ctx.signal.throwIfAborted();
      const verdict = claims.verdict();
      if (verdict === null) continue;
      const named = verdict.confidence * 100 >= ctx.options.min_confidence;
      await data.append<ProfilePart>('asset_profiles', {
        host,
        os: named ? verdict : null,
        os_evidence: claims.evidence(),
      });
    }
  },
});
