import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { responding } from '../fixed-responses.ts';
import { Home } from './command.ts';
import { Listeners } from './listeners.ts';

const home = new Home();
const listeners = new Listeners();
let redis = 0;
let telnet = 0;
let graph = '';

/** A scan of connections, with everything that judges. */
const nodes = `
name: judged
nodes:
  - {instance_id: scan, module_type: connect_scanner}
  - {instance_id: banners, module_type: banner_grabber, depends_on: [scan]}
  - {instance_id: fingerprint, module_type: fingerprint_coordinator, depends_on: [banners]}
  - {instance_id: profile, module_type: asset_profiler, depends_on: [scan, fingerprint]}
  - {instance_id: misconfig, module_type: misconfig_checker, depends_on: [fingerprint, profile]}
  - {instance_id: audit, module_type: compliance_evaluator, depends_on: [misconfig], condition: "\${compliance}"}
  - {instance_id: report, module_type: json_reporter, depends_on: [profile, misconfig, audit]}
`;

beforeAll(async () => {
  const info = '# Server\r\nredis_version:7.0.15\r\n';
  redis = await listeners.serve(
    responding((request) =>
      String(request).startsWith('INFO') ? `$${info.length}\r\n${info}\r\n` : '-ERR unknown command\r\n',
    ),
  );
  telnet = await listeners.greet(Buffer.from('\xff\xfd\x18\xff\xfb\x01login: ', 'latin1'));
  graph = join(home.path, 'judged.yaml');
  writeFileSync(graph, nodes);
});
afterAll(() => {
  listeners.close();
  home.remove();
});

async function scan(...args: string[]) {
  const ports = `${redis},${telnet}`;
  const ended = await home.run([
    'scan',
    '127.0.0.1',
    '--ports',
    ports,
    '--timeout',
    '1s',
    '--format',
    'json',
    ...args,
  ]);
  return { ...ended, result: ended.stdout === '' ? null : JSON.parse(ended.stdout) };
}

it('finds what is open to anyone, with its evidence, and judges it by the frameworks that are asked for', async () => {
  const { code, result } = await scan('--dag', graph, '--compliance', 'cis');
  expect(code).toBe(0);
  const [host] = result.results;
  const findings = host.ports.flatMap(({ port, vulnerabilities }: { port: number; vulnerabilities: [] }) =>
    vulnerabilities.map(({ id, evidence }: { id: string; evidence: string }) => ({ port, id, evidence })),
  );
  expect(findings).toContainEqual({ port: redis, id: 'redis-no-auth', evidence: 'redis_version:7.0.15' });
  expect(findings).toContainEqual({
    port: telnet,
    id: 'telnet-cleartext',
    evidence: expect.stringContaining('login:'),
  });
  expect(result.summary.severity_counts).toMatchObject({ critical: 1, high: 1 });
  expect(new Set(result.compliance.map(({ framework }: { framework: string }) => framework))).toEqual(
    new Set(['cis']),
  );
  expect(result.compliance).toContainEqual(
    expect.objectContaining({
      host: '127.0.0.1',
      port: redis,
      control: '3.3',
      status: 'fail',
      finding_ids: ['redis-no-auth'],
    }),
  );
  // No module looked for flaws or weak ciphers.
  expect(result.compliance).toContainEqual(
    expect.objectContaining({
      host: null,
      control: '7.7',
      status: 'not_assessed',
      description: 'the scan ran without cve_matcher',
    }),
  );
  expect(result.warnings.map((warning: { code: string }) => warning.code)).not.toContain(
    'compliance_unavailable',
  );
});

it('judges nothing that was not asked for, and says so when the graph cannot', async () => {
  const quiet = await scan('--dag', graph);
  expect(quiet.result.compliance).toEqual([]);
  const plain = join(home.path, 'plain.yaml');
  writeFileSync(plain, nodes.replace(/^.*compliance_evaluator.*\n/m, '').replace(', audit]', ']'));
  const { result } = await scan('--dag', plain, '--compliance', 'cis,pci');
  expect(result.warnings.map((warning: { code: string }) => warning.code)).toContain(
    'compliance_unavailable',
  );
});

it('refuses a check that does not exist, with the nearest name', async () => {
  const wrong = join(home.path, 'wrong.yaml');
  writeFileSync(
    wrong,
    nodes.replace(
      'module_type: misconfig_checker,',
      'module_type: misconfig_checker, config: {checks: redis-noauth},',
    ),
  );
  const { code, stderr } = await scan('--dag', wrong);
  expect(code).not.toBe(0);
  expect(stderr).toContain('did you mean redis-no-auth?');
});
