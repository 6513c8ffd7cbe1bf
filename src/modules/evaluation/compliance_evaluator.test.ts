import { describe, expect, it } from 'vitest';
import { tryModule } from '../../../test/module-trial.ts';
import type { ComplianceControl, ComplianceViolation } from '../../domain/compliance.ts';
import { validateOptions } from '../../engine/options.ts';
import evaluator from './compliance_evaluator.ts';

const fingerprint = (host: string, port: number, match: string, version: string | null = null) => ({
  host,
  port,
  protocol: 'tcp',
  match,
  product: version === null ? null : 'x',
  version,
  confidence: 0.9,
});
const finding = (host: string, port: number, id: string, severity = 'critical') => ({
  host,
  port,
  protocol: 'tcp',
  id,
  title: `Title of ${id}`,
  severity,
  kev: false,
  confidence: 0.9,
});
const misconfig: Record<string, Record<string, unknown>> = { misconfig_checker: {} };
const all = { ...misconfig, weak_cipher_checker: {}, cve_matcher: {} };

async function evaluate(
  inputs: Record<string, readonly unknown[]>,
  { frameworks = 'cis,pci,nist', upstream = all as typeof misconfig } = {},
): Promise<{ violations: ComplianceViolation[]; controls: ComplianceControl[] }> {
  const { published } = await tryModule(evaluator, { inputs, config: { frameworks }, upstream });
  return {
    violations: (published.get('compliance_violations') ?? []) as ComplianceViolation[],
    controls: (published.get('compliance_controls') ?? []) as ComplianceControl[],
  };
}

describe('compliance_evaluator', () => {
  const inputs = {
    service_fingerprints: [
      fingerprint('192.0.2.10', 22, 'ssh', '9.2'),
      fingerprint('192.0.2.9', 6379, 'redis', '7.0'),
    ],
    vulnerabilities: [finding('192.0.2.9', 6379, 'redis-no-auth')],
    parsed_services: [],
  };

  it('publishes failed, passed and unknown controls of each host, each once', async () => {
    const { violations, controls } = await evaluate(inputs, { frameworks: 'cis' });
    expect(violations).toEqual([
      {
        host: '192.0.2.9',
        port: 6379,
        framework: 'cis',
        control: '3.3',
        title: 'Only authorized users have access to data',
        description: 'Title of redis-no-auth',
        severity: 'critical',
        finding_ids: ['redis-no-auth'],
      },
    ]);
    const said = [...violations, ...controls].map(({ host, control }) => `${host} ${control}`);
    expect(new Set(said).size).toBe(said.length);
    expect(said).toHaveLength(14);
    expect(controls.find(({ host, control }) => host === '192.0.2.10' && control === '7.7')?.status).toBe(
      'pass',
    );
    expect([...new Set(controls.map(({ host }) => host))]).toEqual(['192.0.2.9', '192.0.2.10']);
  });

  it('says once for all hosts what no module looked at, or no scan can see', async () => {
    const { controls } = await evaluate(inputs, { frameworks: 'pci', upstream: misconfig });
    const everywhere = controls.filter(({ host }) => host === null);
    expect(everywhere.map(({ control }) => control)).toEqual(['2.2.7', '4.2.1', '6.3.3', '11.3.1', '11.3.2']);
    expect(everywhere[2]?.reason).toBe('the scan ran without cve_matcher');
    expect(controls.some(({ host, control }) => host !== null && control === '6.3.3')).toBe(false);
  });

  it('reports a failed control even if not every module ran', async () => {
    const telnet = {
      service_fingerprints: [fingerprint('192.0.2.9', 23, 'telnet'), fingerprint('192.0.2.8', 22, 'ssh')],
      vulnerabilities: [finding('192.0.2.9', 23, 'telnet-cleartext')],
    };
    const { violations, controls } = await evaluate(telnet, {
      frameworks: 'cis',
      upstream: misconfig,
    });
    expect(violations.map(({ control }) => control)).toContain('3.10');
    expect(controls.filter(({ control }) => control === '3.10').map(({ host }) => host)).toEqual([null]);
  });

  it('evaluates only the requested frameworks', async () => {
    const { violations } = await evaluate(inputs);
    expect([...new Set(violations.map(({ framework }) => framework))]).toEqual(['cis', 'pci', 'nist']);
    const problems = (frameworks: string) => validateOptions(evaluator.options, { frameworks }).problems;
    expect(problems('cis,sox')).toMatchObject([{ field: 'frameworks' }]);
    expect(problems('pci, nist')).toEqual([]);
  });

  it('counts a repeated service and a repeated finding once', async () => {
    const again = { ...inputs, vulnerabilities: [...inputs.vulnerabilities, ...inputs.vulnerabilities] };
    const { violations } = await evaluate(again, { frameworks: 'nist' });
    expect(violations.map(({ control, finding_ids }) => [control, finding_ids])).toEqual([
      ['AC-3', ['redis-no-auth']],
      ['IA-2', ['redis-no-auth']],
    ]);
  });

  it('reads from the parsers whether TLS was tried in full', async () => {
    const of = async (survey: string | undefined) => {
      const { controls } = await evaluate(
        {
          service_fingerprints: [fingerprint('192.0.2.1', 443, 'https')],
          vulnerabilities: [],
          parsed_services: [
            {
              host: '192.0.2.1',
              port: 443,
              protocol: 'tcp',
              service: 'https',
              parser: 'tls_parser',
              attributes: { tls: { survey } },
            },
          ],
        },
        { frameworks: 'nist' },
      );
      return controls.find(({ control }) => control === 'SP 800-52r2 3.1')?.status;
    };
    expect(await of('complete')).toBe('pass');
    expect(await of('partial')).toBe('not_assessed');
    expect(await of(undefined)).toBe('not_assessed');
  });
});
