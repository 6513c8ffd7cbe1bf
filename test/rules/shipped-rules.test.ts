import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/domain/finding.ts';
import { loadRules } from '../../src/scan-run/catalogs/load-rules.ts';
import { Home } from '../cli/command.ts';
import { Listeners } from '../cli/listeners.ts';
import { type RuleServices, ruleServices } from './rule-services.ts';

const ids = Object.keys(ruleServices);
const home = new Home();
const listeners = new Listeners();
/** Findings of the module by rule whose service they were found at. */
let found: Record<keyof RuleServices, Map<string, Finding[]>>;

interface ScanResult {
  warnings: { code: string }[];
  results: { ports: { port: number; vulnerabilities: Finding[] }[] }[];
}

/** Starts one service per rule and scans all of them at once. */
async function scanAll(kind: keyof RuleServices): Promise<Map<string, Finding[]>> {
  const ports = new Map<number, string>();
  for (const id of ids) ports.set(await listeners.serve((ruleServices[id] as RuleServices)[kind]), id);
  const list = [...ports.keys()].join(',');
  const flags = [
    '--dag',
    'vuln-scan',
    '--no-discover',
    '--scan-type',
    'connect',
    '--format',
    'json',
    '--timeout',
    '2s',
  ];
  const { stdout, stderr, code } = await home.run(['scan', '127.0.0.1', '--ports', list, ...flags]);
  expect(code, stderr).toBe(0);
  const { results } = JSON.parse(stdout) as ScanResult;
  const seen = results.flatMap(({ ports: rows }) => rows);
  expect(seen.map(({ port }) => port).sort()).toEqual([...ports.keys()].sort());
  return new Map(seen.map(({ port, vulnerabilities }) => [ports.get(port) as string, vulnerabilities]));
}

beforeAll(async () => {
  found = { positive: await scanAll('positive'), negative: await scanAll('negative') };
}, 300_000);
afterAll(() => {
  listeners.close();
  home.remove();
});

describe('a scan', () => {
  it('is tried with every shipped rule', async () => {
    const { set, problems } = await loadRules(
      { workspace: { enabled: false, dir: '' } as never },
      { env: { HOME: home.path } },
    );
    expect(problems).toEqual([]);
    expect(set.rules.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  });

  it.each(ids)('finds %s', (id) => {
    const finding = found.positive.get(id)?.find((each) => each.id === id);
    expect(finding, `found: ${found.positive.get(id)?.map((each) => each.id)}`).toMatchObject({ plugin: id });
    expect(finding?.evidence).not.toBe('');
    expect(finding?.evidence).not.toContain('{{');
  });

  it.each(ids)('does not find %s where it is not', (id) => {
    expect(found.negative.get(id)?.map((finding) => finding.id)).not.toContain(id);
  });
});
