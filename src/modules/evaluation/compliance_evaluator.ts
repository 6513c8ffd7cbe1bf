import type { ComplianceControl, ComplianceViolation } from '../../domain/compliance.ts';
import type { HostFinding } from '../../domain/finding.ts';
import type { Fingerprint, ParsedService } from '../../domain/service.ts';
import { parseAddress } from '../../domain/targets/address.ts';
import { forEachItem } from '../../engine/each.ts';
import { type DataContext, defineModule, type ExecContext } from '../../engine/module.ts';
import { listItems } from '../../engine/options.ts';
import { type Control, frameworks } from '../../knowledge/compliance/control.ts';
import {
  type Breach,
  controls,
  type EvaluatedFinding,
  type EvaluatedService,
  evaluateControls,
  unjudged,
  unseenOf,
} from '../../knowledge/compliance/evaluate.ts';

export default defineModule({
  name: 'compliance_evaluator',
  type: 'evaluation',
  version: '1.0.0',
  description:
    'Evaluates each host against controls of CIS, PCI DSS and NIST: passed, failed or not assessed.',
  options: {
    frameworks: {
      Type: 'string',
      Description: 'Frameworks to evaluate, as a comma-separated list: cis, pci, nist.',
      Default: frameworks.join(','),
      Items: frameworks,
    },
  },
  requires: ['service_fingerprints', 'vulnerabilities'],
  provides: ['compliance_violations', 'compliance_controls'],
  reads: ['parsed_services'],
  async execute(ctx, data) {
    const requested = frameworks.filter((framework) => listItems(ctx.options.frameworks).includes(framework));
    const hosts = await collect(ctx, data);
    const ran = ctx.upstream();
    const loginsTried = ran.get('banner_grabber')?.['intrusive'] === true;
    const report = (control: ComplianceControl) => data.append('compliance_controls', control);
    const all = controls.filter(({ framework }) => requested.includes(framework));
    const untold = new Set<Control>();
    for (const control of all) {
      const reason = unjudged(control, ran);
      if (reason === null) continue;
      untold.add(control);
      await report({ ...nameOf(control), host: null, status: 'not_assessed', reason });
    }
    for (const control of requested.flatMap(unseenOf)) {
      await report({ ...nameOf(control), host: null, status: 'not_assessed', reason: control.reason });
    }
    for (const host of [...hosts.keys()].sort(byAddress)) {
      ctx.signal.throwIfAborted();
      const { services, findings } = hosts.get(host) as HostFacts;
      const facts = { loginsTried, services: [...services.values()], findings: [...findings.values()] };
      for (const control of all) {
        const verdict = evaluateControls(control, facts);
        if (verdict.status === 'fail') await publish(data, control, host, verdict.breaches);
        // What no module checked is reported once for all hosts; failures are reported anyway.
        else if (!untold.has(control)) await report({ ...nameOf(control), host, ...verdict });
      }
    }
  },
});

async function publish(
  data: DataContext,
  control: Control,
  host: string,
  breaches: readonly Breach[],
): Promise<void> {
  for (const { port, severity, description, findingIds } of breaches) {
    const breach = { host, port, description, severity, finding_ids: findingIds };
    await data.append<ComplianceViolation>('compliance_violations', { ...nameOf(control), ...breach });
  }
}

function byAddress(a: string, b: string): number {
  const [left, right] = [parseAddress(a), parseAddress(b)];
  if (!left || !right || left.family !== right.family) return (left?.family ?? 9) - (right?.family ?? 9);
  return left.value < right.value ? -1 : Number(left.value > right.value);
}

function nameOf({ framework, control, title }: Pick<Control, 'framework' | 'control' | 'title'>) {
  return { framework, control, title };
}

/** Facts about one host; a service or finding that is published again, richer, counts once. */
interface HostFacts {
  services: Map<string, EvaluatedService>;
  findings: Map<string, EvaluatedFinding>;
}

/** Hosts with at least one service or finding. */
async function collect(
  ctx: Pick<ExecContext, 'signal' | 'log' | 'instanceId'>,
  data: DataContext,
): Promise<Map<string, HostFacts>> {
  const hosts = new Map<string, HostFacts>();
  const factsOf = (host: string): HostFacts => {
    const known = hosts.get(host) ?? { services: new Map(), findings: new Map() };
    hosts.set(host, known);
    return known;
  };
  const addService = (
    { host, port, protocol }: { host: string; port: number; protocol: string },
    more: Partial<EvaluatedService>,
  ) => {
    const { services } = factsOf(host);
    const key = `${port}/${protocol}`;
    const known = services.get(key) ?? { port, name: null, versioned: false, tls: null };
    services.set(key, { ...known, ...more });
  };
  const one = { concurrency: 1 };
  // Drain all streams concurrently: a producer must never wait for a reader that waits for another one.
  await Promise.all([
    forEachItem(ctx, data.stream<Fingerprint>('service_fingerprints'), one, (fingerprint) => {
      const { match: name, product, version } = fingerprint;
      addService(fingerprint, { name, versioned: product !== null && version !== null });
    }),
    forEachItem(ctx, data.stream<HostFinding>('vulnerabilities'), one, (finding) => {
      const { id, title, severity, port, protocol, kev, confidence } = finding;
      factsOf(finding.host).findings.set(`${id} ${port} ${protocol}`, {
        id,
        title,
        severity,
        port,
        kev,
        confidence,
      });
    }),
    data.has('parsed_services')
      ? forEachItem(ctx, data.stream<ParsedService>('parsed_services'), one, (service) => {
          const tls = service.attributes['tls'] as { survey?: unknown } | undefined;
          if (tls) addService(service, { tls: tls.survey === 'complete' ? 'complete' : 'single' });
        })
      : undefined,
  ]);
  return hosts;
}
