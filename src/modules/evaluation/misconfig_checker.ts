import { classOf, type HostFinding, plainAction } from '../../domain/finding.ts';
import type { Endpoint } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { type Banner, responsesByName } from '../../domain/text/banner.ts';
import { forEachItem } from '../../engine/each.ts';
import { LongWork } from '../../engine/long-work.ts';
import { defineModule } from '../../engine/module.ts';
import { listItems } from '../../engine/options.ts';
import { checkIds, checks } from '../../knowledge/checks/all.ts';
import { type Check, CheckResponse, evidence } from '../../knowledge/checks/check.ts';
import { proveVersion, versionDisclosure } from '../../knowledge/checks/version-disclosure.ts';
import { siteEvidence } from '../../knowledge/site-evidence.ts';
import { firstNames, targetNames } from '../target-names.ts';

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
    const requested = new Set(listItems(ctx.options.checks));
    const isRequested = ({ id }: Pick<Check, 'id'>) => requested.has('all') || requested.has(id);
    const chosen = checks.filter(isRequested);
    const names = firstNames(await targetNames(data));
    const published = new Set<string>();
    const publish = async (finding: HostFinding) => {
      const identity = `${finding.id} ${finding.host} ${finding.port}`;
      if (published.has(identity)) return;
      published.add(identity);
      await data.append<HostFinding>('vulnerabilities', finding);
    };
    const work = new LongWork();
    const evaluate = async (banner: Banner) => {
      if (work.isDue) await work.yield();
      const now = Date.now();
      const responses = [...responsesByName(banner)].flatMap(([name, banners]) =>
        banners.map((each) => ({
          name,
          response: new CheckResponse(each, name ?? names.get(banner.host) ?? null, now),
        })),
      );
      for (const check of chosen) {
        const evidence = siteEvidence(
          responses.flatMap(({ name, response }) => {
            const shown = check.prove(response);
            return shown === null ? [] : [{ name, evidence: shown }];
          }),
        );
        if (evidence !== null) await publish(findingOf(check, banner, evidence, check.confidence));
      }
    };
    const reportVersion = async (fingerprint: Fingerprint) => {
      const evidence = isRequested(versionDisclosure) ? proveVersion(fingerprint) : null;
      if (evidence === null) return;
      const { confidence, version } = fingerprint;
      await publish({
        ...findingOf(versionDisclosure, fingerprint, evidence, confidence),
        detected: version,
      });
    };
    // Drain both streams concurrently: a producer must never wait for a reader that waits for another one.
    await Promise.all([
      data.has('banners')
        ? forEachItem(ctx, data.stream<Banner>('banners'), { concurrency: 1 }, evaluate)
        : undefined,
      forEachItem(ctx, data.stream<Fingerprint>('service_fingerprints'), { concurrency: 1 }, reportVersion),
    ]);
  },
});

function findingOf(
  { id, title, severity, action, remediation, references }: Omit<Check, 'prove' | 'confidence'>,
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
    affected_from: null,
    fixed_in: null,
    action: plainAction(action),
    class: classOf({ confidence }),
    evidence: evidence(proof),
    remediation,
    references: [...references],
    plugin: 'misconfig_checker',
  };
}
