import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { GraphLibrary } from '../../engine/graph/graph-library.ts';
import { Registry, registerModules } from '../../engine/registry.ts';
import { decideRequest } from './decide-request.ts';
import { type ModuleCatalog, planScan, unavailable } from './plan-scan.ts';
import type { Submission } from './submission.ts';

let dir: string;
let config: Config;
let catalogue: ModuleCatalog;

const night = `
name: night
dag: own
scanner: { rate: 200, timeout: 800ms, retry: 0, concurrency: 50, ports: { profile: top-10, custom: 8443 } }
discovery:
  timeout: 1s
  retry: 3
  icmp: { enabled: false }
  tcp_probe: { ports: "22,443", timeout: 250ms }
fingerprint: { max_protocols: 2, probe_timeout: 4s }
vulnerability: { enabled: true, min_severity: high }
notifications: { channels: ["slack://night"] }
`;

const own = `
name: own
nodes:
  - { instance_id: icmp, module_type: icmp_discovery }
  - { instance_id: connect, module_type: connect_scanner, depends_on: [icmp], config: { ports: "1" } }
  - { instance_id: banners, module_type: banner_grabber, depends_on: [connect] }
  - { instance_id: fingerprint, module_type: fingerprint_coordinator, depends_on: [banners] }
  - { instance_id: report, module_type: json_reporter, depends_on: [fingerprint] }
`;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-profile-'));
  config = loadConfig({ env: { HOME: dir }, systemFile: join(dir, 'none.yaml') }).config;
  const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const registry = new Registry();
  await registerModules(registry, source('../../modules'));
  const builtin = await GraphLibrary.load(source('../../../profiles'), 'builtin', registry);
  await writeFile(join(dir, 'own.yaml'), own);
  const dags = [{ source: 'user' as const, dir }];
  const installed = await builtin.withInstalled({ dags, profiles: [], rules: [] }, registry);
  await rm(join(dir, 'own.yaml'));
  await writeFile(join(dir, 'night.profile'), night);
  const { library } = await installed.withProfile(join(dir, 'night.profile'), registry);
  catalogue = { registry, library };
});
afterAll(() => rm(dir, { recursive: true, force: true }));

function decide(submission: Partial<Submission>) {
  const { library } = catalogue;
  const choices = {
    profiles: library.profiles(),
    dags: library.list().map(({ name }) => name),
    installed: library,
  };
  const origin = { scanId: '20261006-143022-a1b2c3', createdAt: new Date(), user: null };
  return decideRequest({ targets: ['192.0.2.1'], profile: 'night', ...submission }, config, choices, origin)
    .request;
}

/** Options of the nodes that run, by module type. */
async function planned(submission: Partial<Submission>, with_: ModuleCatalog = catalogue) {
  const plan = await planScan(decide(submission), config, with_);
  const running = plan.nodes.filter(({ skipped }) => skipped === null);
  return Object.fromEntries(running.map((node) => [node.definition.name, node.config]));
}

describe('a custom profile', () => {
  it('decides what a submission leaves open', () => {
    expect(decide({})).toMatchObject({
      profile: 'night',
      dag: 'own',
      rate: 200,
      vuln: true,
      ports: 'top-10,T:8443',
      notifications: ['slack://night'],
      options: { timeout: '800ms', retries: 0, concurrency: 50, max_protocols: 2, min_severity: 'high' },
    });
  });

  it('has every setting in the plan', async () => {
    const nodes = await planned({});
    expect(Object.keys(nodes)).toEqual([
      'tcp_probe_discovery',
      'connect_scanner',
      'banner_grabber',
      'fingerprint_coordinator',
      'json_reporter',
    ]);
    expect(nodes['tcp_probe_discovery']).toMatchObject({ ports: '22,443', timeout: '250ms', retry: 3 });
    expect(nodes['connect_scanner']).toMatchObject({
      ports: 'top-10,T:8443',
      rate: 200,
      timeout: '800ms',
      retries: 0,
      concurrency: 50,
    });
    expect(nodes['banner_grabber']).toMatchObject({ timeout: '4s', retries: 0 });
    expect(nodes['fingerprint_coordinator']).toMatchObject({ max_protocols: 2 });
  });

  it('gives way to what the submission says itself', async () => {
    const options = { timeout: '5s', discovery_timeout: '3s', discovery_retries: 1 };
    const requested = { ports: '22', rate: 77, vuln: false, notifications: [], dag: 'standard', options };
    expect(decide(requested)).toMatchObject({ ports: '22', rate: 77, vuln: false, notifications: [] });
    const nodes = await planned(requested);
    expect(nodes['tcp_probe_discovery']).toMatchObject({ ports: '22,443', timeout: '3s', retry: 1 });
    expect(nodes['syn_scanner']).toMatchObject({ ports: '22', timeout: '5s' });
    expect(nodes['banner_grabber']).toMatchObject({ timeout: '5s' });
    const portsOnly = await planned({ ...requested, options: { ...options, fingerprint: false } });
    const withSuch = Object.keys(portsOnly).filter((name) => /banner|parser|fingerprint|class/.test(name));
    expect([withSuch, portsOnly]).toEqual([[], expect.objectContaining({ syn_scanner: expect.anything() })]);
  });

  it('gives way to another discovery, and to none', async () => {
    const fast = await planned({ options: { discover_profile: 'fast' } });
    expect(fast['icmp_discovery']).toMatchObject({ timeout: '1s' });
    expect(fast).not.toHaveProperty('tcp_probe_discovery');
    expect(Object.keys(await planned({ options: { discover: false } }))[0]).toBe('connect_scanner');
  });

  it('is capped at scanner.max_rate', () => {
    const { max_rate } = config.scanner;
    config.scanner.max_rate = 150;
    try {
      expect(decide({}).rate).toBe(150);
    } finally {
      config.scanner.max_rate = max_rate;
    }
  });

  it('keeps the graph of the moment when the scan was accepted', async () => {
    const request = JSON.parse(JSON.stringify(decide({})));
    const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
    const library = await GraphLibrary.load(source('../../../profiles'), 'builtin', catalogue.registry);
    const plan = await planScan(request, config, { registry: catalogue.registry, library });
    expect([plan.name, plan.nodes.length]).toEqual(['own', 5]);
  });

  it('cannot be imitated by a submission', () => {
    const options = {
      discovery_probes: { icmp_discovery: { enabled: false, config: {} } },
      probe_timeout: '1s',
    };
    expect(decide({ profile: 'standard', options }).options).toEqual({});
    expect(decide({ profile: 'standard' }).graph).toBeUndefined();
  });
});

describe('a graph whose metadata says vuln: true', () => {
  const warningsOf = async (submission: Partial<Submission>) => {
    const request = decide({ profile: 'standard', ...submission });
    const warnings = unavailable(await planScan(request, config, catalogue), request);
    return [request.vuln, warnings.map(({ code }) => code)];
  };

  it.each(['vuln-scan', 'deep'])('turns vuln on where the submission is silent: %s', async (dag) => {
    expect(await warningsOf({ dag })).toEqual([true, []]);
    expect(await warningsOf({ dag, vuln: true })).toEqual([true, []]);
    expect(await warningsOf({ dag, vuln: false })).toEqual([false, ['evaluation_off']]);
  });

  it('looks for nothing where only ports were requested, and warns if findings were too', async () => {
    const options = { fingerprint: false };
    expect(await warningsOf({ dag: 'vuln-scan', options })).toEqual([false, []]);
    expect(await warningsOf({ profile: 'deep', options })).toEqual([false, []]);
    expect(await warningsOf({ profile: 'deep', vuln: true, options })).toEqual([true, ['vuln_unavailable']]);
  });

  it('says nothing where something is evaluated all the same', async () => {
    const options = { compliance: ['cis'] };
    expect(await warningsOf({ dag: 'vuln-scan', vuln: false, options })).toEqual([false, []]);
  });

  it('may be that of the profile', async () => {
    expect(await warningsOf({ profile: 'deep' })).toEqual([true, []]);
    expect(await warningsOf({ profile: 'standard' })).toEqual([false, []]);
  });

  it('may be a file', () => {
    const { graph } = catalogue.library.get('vuln-scan') ?? {};
    const choices = { profiles: [{ name: 'standard', aliases: [] }], dags: [], ...(graph && { graph }) };
    const origin = { scanId: 'x', createdAt: new Date(), user: 'cli', graphFiles: true };
    const submission = { targets: ['192.0.2.1'], profile: 'standard', dag: '/some/graph.yaml' };
    expect(decideRequest(submission, config, choices, origin).request.vuln).toBe(true);
    expect(decideRequest({ ...submission, vuln: false }, config, choices, origin).request.vuln).toBe(false);
  });
});
