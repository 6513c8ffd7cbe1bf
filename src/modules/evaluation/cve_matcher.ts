import type { ProfilePart } from '../../domain/asset.ts';
import { type HostFinding, type Severity, severities } from '../../domain/finding.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { forEachItem } from '../../engine/each.ts';
import { LongWork } from '../../engine/long-work.ts';
import { defineModule } from '../../engine/module.ts';
import { CveEvaluator, HostProducts } from '../../knowledge/vulndb/cve-findings.ts';

export default defineModule({
  name: 'cve_matcher',
  type: 'evaluation',
  version: '1.0.0',
  description:
    'Matches products and versions against the vulnerability data, ranked by exploitation, EPSS and CVSS.',
  options: {
    min_severity: {
      Type: 'string',
      Description: 'Minimum severity to report.',
      Default: 'info',
      Enum: severities,
    },
    min_confidence: {
      Type: 'int',
      Description: 'Minimum confidence of a finding, in percent; products without a version are not matched.',
      Default: 25,
      Min: 0,
      Max: 100,
    },
    kev_only: {
      Type: 'bool',
      Description: 'Report only vulnerabilities known to be exploited.',
      Default: false,
    },
    include_unversioned: {
      Type: 'bool',
      Description: 'Also report what may affect a product of unknown version.',
      Default: false,
    },
  },
  requires: ['service_fingerprints'],
  provides: ['vulnerabilities'],
  reads: ['asset_profiles'],
  async execute(ctx, data) {
    const evaluate = new CveEvaluator(await ctx.vulnerabilities(), {
      minSeverity: ctx.options.min_severity as Severity,
      minConfidence: ctx.options.min_confidence / 100,
      kevOnly: ctx.options.kev_only,
      includeUnversioned: ctx.options.include_unversioned,
    });
    // A port may be published again with its package revision, and the system of a host comes last; a premature
    // finding could not be withdrawn. Only products with a CPE name wait for that.
    const hosts = new Map<string, HostProducts>();
    const productsOf = (host: string): HostProducts => {
      const known = hosts.get(host) ?? new HostProducts(host);
      hosts.set(host, known);
      return known;
    };
    // Drain both streams concurrently: a producer must never wait for a reader that waits for another one.
    await Promise.all([
      forEachItem(
        ctx,
        data.stream<Fingerprint>('service_fingerprints'),
        { concurrency: 1 },
        (fingerprint) => {
          productsOf(fingerprint.host).take(fingerprint);
        },
      ),
      data.has('asset_profiles')
        ? forEachItem(ctx, data.stream<ProfilePart>('asset_profiles'), { concurrency: 1 }, ({ host, os }) => {
            if (os) productsOf(host).os = os;
          })
        : undefined,
    ]);
    const work = new LongWork();
    let done = 0;
    for (const [host, products] of hosts) {
      for (const findings of evaluate.judge(products)) {
        ctx.signal.throwIfAborted();
        await data.append<HostFinding>('vulnerabilities', ...findings);
        if (work.isDue) await work.yield();
      }
      hosts.delete(host);
      ctx.progress(++done, done + hosts.size);
    }
  },
});
