import { setImmediate } from 'node:timers/promises';
import { classOf, type HostFinding } from '../../domain/finding.ts';
import type { Endpoint } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { forEachItem } from '../../engine/each.ts';
import { defineModule } from '../../engine/module.ts';
import { listItems } from '../../engine/options.ts';
import { checkIds, checks } from '../../knowledge/checks/all.ts';
import { type Check, CheckResponse, evidence } from '../../knowledge/checks/check.ts';
import { proveVersion, versionDisclosure } from '../../knowledge/checks/version-disclosure.ts';
import { targetNames } from '../target-names.ts';

/** Longest work without yielding to the event loop, milliseconds: other modules wait for the network meanwhile. */
const longestStretch = 20;

export default defineModule({
  name: 'misconfig_checker',
  type: 'evaluation',
  version: '1.0.0',
  description: 'Finds services that are open to anyone, use clear text or are misconfigured; sends nothing.',
  options: {
    checks: {
      Type: 'string',
      Description: 'IDs of the checks to run, as a comma-separated list, or all.',
      Default: 'all',
      Items: ['all', ...checkIds],
    },
  },
  requires: ['service_fingerprints'],
  provides: ['vulnerabilities'],
  reads: ['banners', 'targets'],
  async execute(ctx, data) {
    const asked = new Set(listItems(ctx.options.checks));
    const isAsked = ({ id }: Pick<Check, 'id'>) => asked.has('all') || asked.has(id);
    const chosen = checks.filter(isAsked);
    const names = await targetNames(data);
    const told = new Set<string>();
    const publish = async (finding: HostFinding) => {
      const identity = `${finding.id} ${finding.host} ${finding.port}`;
      if (told.has(identity)) return;
      told.add(identity);
      await data.append<HostFinding>('vulnerabilities', finding);
    };
    let since = performance.now();
    const judge = async (banner: Banner) => {
      if (performance.now() - since > longestStretch) {
        await setImmediate();
        since = performance.now();
      }
      const answer = new CheckResponse(banner, names.get(banner.host) ?? null, Date.now());
      for (const check of chosen) {
        const proof = check.prove(answer);
        if (proof !== null) await publish(findingOf(check, banner, proof, check.confidence));
      }
    };
    const tell = async (fingerprint: Fingerprint) => {
      const proof = isAsked(versionDisclosure) ? proveVersion(fingerprint) : null;
      if (proof === null) return;
      const { confidence, version } = fingerprint;
      await publish({ ...findingOf(versionDisclosure, fingerprint, proof, confidence), detected: version });
    };
    // Drain both streams concurrently: a producer must never wait for a reader that waits for another one.
    await Promise.all([
      data.has('banners')
        ? forEachItem(ctx, data.stream<Banner>('banners'), { concurrency: 1 }, judge)
        : undefined,
      forEachItem(ctx, data.stream<Fingerprint>('service_fingerprints'), { concurrency: 1 }, tell),
    ]);
  },
});

function findingOf(
  { id, title, severity, remediation, references }: Omit<Check, 'prove' | 'confidence'>,
  { host, port, protocol }: Endpoint,
  proof: string,
  confidence: number,
): HostFinding {
  return {
    host,
    port,
    protocol,
    id,
    title,
    severity,
    cvss: null,
    kev: false,
    epss: null,
    cpe: null,
    affected: null,
    detected: null,
    confidence,
    backport_note: null,
    class: classOf({ confidence }),
    evidence: evidence(proof),
    remediation,
    references: [...references],
    plugin: 'misconfig_checker',
  };
}
