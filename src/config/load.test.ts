import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PortolanError } from '../domain/errors.ts';
import { ConfigFolder } from './fixtures/config-folder.ts';
import { type LoadInput, loadConfig } from './load.ts';
import { configKeys, environmentNames } from './schema.ts';

let folder: ConfigFolder;
let dir: string;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  folder = new ConfigFolder();
  ({ dir, env } = folder);
});
afterEach(() => folder.remove());

describe('folders', () => {
  it('takes absolute XDG folders only', () => {
    env['XDG_DATA_HOME'] = 'somewhere/else';
    expect(folder.load().config.workspace.dir).toBe(join(dir, '.local/share/portolan'));
    env['XDG_DATA_HOME'] = join(dir, 'data');
    expect(folder.load().config.workspace.dir).toBe(join(dir, 'data/portolan'));
  });
});

describe('defaults', () => {
  it('reads every key, durations as milliseconds', () => {
    const { config, warnings, origins } = folder.load();
    expect(warnings).toEqual([]);
    expect(config.server.bind).toBe('127.0.0.1:8080');
    expect(config.server.api.auth).toBeNull();
    expect(config.scanner.timeout).toBe(3000);
    expect(config.engine.global_timeout).toBe(0);
    expect(config.workspace.dir).toBe(join(dir, '.local/share/portolan'));
    expect(origins.get('server.bind')).toBe('default');
    expect([...origins.keys()]).toEqual(configKeys.map(({ path }) => path));
  });
});

describe('precedence', () => {
  it('takes defaults < machine < user < workspace < named file < environment < flags', () => {
    const all = ['scanner.rate: 1', 'scanner.rate: 2', 'scanner.rate: 3', 'scanner.rate: 4'].map((line) =>
      line.replace('scanner.rate', 'scanner:\n  rate'),
    );
    const systemFile = folder.file('etc.yaml', all[0] as string);
    const steps: { expected: number; input: Partial<LoadInput>; prepare?: () => void }[] = [
      { expected: 1, input: {} },
      {
        expected: 2,
        input: {},
        prepare: () => folder.file('.config/portolan/config.yaml', all[1] as string),
      },
      { expected: 3, input: {}, prepare: () => folder.file('ws/config/portolan.yaml', all[2] as string) },
      { expected: 4, input: { file: folder.file('named.yaml', all[3] as string) } },
    ];
    env['SERVICE_WORKSPACE_DIR'] = join(dir, 'ws');
    for (const step of steps) {
      step.prepare?.();
      expect(folder.load({ systemFile, ...step.input }).config.scanner.rate).toBe(step.expected);
    }
    env['SERVICE_CONFIG'] = join(dir, 'named.yaml');
    expect(folder.load({ systemFile }).config.scanner.rate).toBe(4);
    env['SERVICE_RATE'] = '5';
    const { config, origins } = folder.load({ systemFile });
    expect(config.scanner.rate).toBe(5);
    expect(origins.get('scanner.rate')).toBe('environment SERVICE_RATE');
    expect(folder.load({ systemFile, flags: { 'scanner.rate': 6 } }).config.scanner.rate).toBe(6);
  });

  it('holds in every combination of the sources', () => {
    // Lowest precedence first; each sets the rate to its position in this list.
    const sources = [
      { name: 'XDG file', put: (on: boolean) => place('.config/portolan/config.yaml', on, 1) },
      { name: 'workspace file', put: (on: boolean) => place('ws/config/portolan.yaml', on, 2) },
      {
        name: 'SERVICE_CONFIG',
        put: (on: boolean) => setVariable('SERVICE_CONFIG', on, place('a.yaml', true, 3)),
      },
      { name: '--config', put: (on: boolean) => (on ? place('b.yaml', true, 4) : undefined) },
      { name: 'environment', put: (on: boolean) => setVariable('SERVICE_RATE', on, '5') },
      { name: 'flag', put: (on: boolean) => (on ? '6' : undefined) },
    ];
    function place(name: string, on: boolean, rate: number): string {
      const path = folder.file(name, `scanner: {rate: ${rate}}`);
      if (!on) rmSync(path);
      return path;
    }
    function setVariable(name: string, on: boolean, value: string): undefined {
      if (on) env[name] = value;
      else delete env[name];
    }
    for (let combination = 0; combination < 2 ** 7; combination++) {
      const isOn = (index: number) => (combination & (1 << index)) !== 0;
      const inWorkspace = isOn(6);
      setVariable('SERVICE_WORKSPACE_DIR', inWorkspace, join(dir, 'ws'));
      const [, , , named, , rate] = sources.map(({ put }, index) => put(isOn(index)));
      const flags = { 'scanner.rate': rate };
      const { config, origins } = folder.load({ file: named, flags });
      const holds = (index: number) =>
        isOn(index) && (index !== 1 || inWorkspace) && (index !== 2 || !isOn(3));
      const strongest = sources.findLastIndex((_source, index) => holds(index));
      const expected =
        ['default', '1', '2', '3', '4', 'environment SERVICE_RATE', 'flag'][strongest + 1] ?? '';
      const label = sources.filter((_source, index) => isOn(index)).map(({ name }) => name);
      expect([label, config.scanner.rate]).toEqual([label, strongest === -1 ? 'auto' : strongest + 1]);
      const origin = origins.get('scanner.rate');
      if (/^[a-z]/.test(expected)) expect(origin).toBe(expected);
      else expect(origin).toMatch(/\.yaml:1:17$/);
      const ws = inWorkspace ? join(dir, 'ws') : join(dir, '.local/share/portolan');
      expect(config.workspace.dir).toBe(ws);
    }
  });

  it('prefers --config to SERVICE_CONFIG and names file, line and column as origin', () => {
    env['SERVICE_CONFIG'] = folder.file('a.yaml', 'server:\n  workers: 2\n');
    const named = folder.file('b.yaml', 'server:\n  workers: 3\n');
    const { config, origins } = folder.load({ file: named });
    expect(config.server.workers).toBe(3);
    expect(origins.get('server.workers')).toBe(`${named}:2:12`);
  });

  it('reads every key from the environment by the naming rule', () => {
    env['SERVICE_SCANNER__SCOPE__DENY'] = '10.0.0.0/8, 192.0.2.1';
    env['SERVICE_SERVER__API__AUTH'] = 'true';
    env['SERVICE_WORKERS__LEASE'] = '1m';
    env['SERVICE_SOMETHING_ELSE'] = 'ignored';
    const { config } = folder.load();
    expect(config.scanner.scope.deny).toEqual(['10.0.0.0/8', '192.0.2.1']);
    expect(config.server.api.auth).toBe(true);
    expect(config.workers.lease).toBe(60_000);
    for (const key of configKeys)
      expect(environmentNames(key).every((name) => name.startsWith('SERVICE_'))).toBe(true);
  });

  it('denies the metadata services of clouds by default; a list in a file, an empty one too, replaces them', () => {
    expect(folder.load().config.scanner.scope.deny).toEqual(['169.254.169.254/32', 'fd00:ec2::254/128']);
    const emptied = folder.file('no-deny.yaml', 'scanner: { scope: { deny: [] } }\n');
    expect(folder.load({ file: emptied }).config.scanner.scope.deny).toEqual([]);
    // An empty variable counts as unset.
    env['SERVICE_SCANNER__SCOPE__DENY'] = '';
    expect(folder.load().config.scanner.scope.deny).toHaveLength(2);
  });

  it('takes any duration from a minute on as fingerprint.cache.ttl', () => {
    const ttlOf = (text: string) => {
      env['SERVICE_FINGERPRINT__CACHE__TTL'] = text;
      return folder.load().config.fingerprint.cache.ttl;
    };
    expect([ttlOf('1m'), ttlOf('60s'), ttlOf('1h30m'), ttlOf('6mo'), ttlOf('100y')]).toEqual([
      60_000,
      60_000,
      5_400_000,
      180 * 86_400_000,
      36_500 * 86_400_000,
    ]);
    for (const text of ['59s', '1s', '0', '59999ms'])
      expect(() => ttlOf(text)).toThrow(/fingerprint\.cache\.ttl: must be at least 1m, not/);
    expect(() => ttlOf('5')).toThrow(/a duration with a unit/);
    expect(() => ttlOf('101y')).toThrow(/a duration with a unit/);
  });

  it('rejects a bare m as ambiguous where scans or log files are retained, and takes months and years for job records', () => {
    for (const name of ['SERVICE_WORKSPACE__RETENTION__MAX_AGE', 'SERVICE_LOGGING__FILE__MAX_AGE'])
      expect(() => loadConfig({ env: { ...env, [name]: '5m' }, systemFile: join(dir, 'none.yaml') })).toThrow(
        /is ambiguous: "m" may mean minutes or months/,
      );
    env['SERVICE_QUEUE__RETENTION'] = '1y';
    expect(folder.load().config.queue.retention).toBe(365 * 86_400_000);
  });

  it('looks for alert rules where alerts.file says, and beside every place of a configuration file', () => {
    const path = folder.file('with-alerts.yaml', '');
    const { alertFiles, config } = folder.load({ file: path });
    expect(alertFiles[0]).toBe(join(dirname(path), 'alerts.yaml'));
    expect(alertFiles).toContain(join(config.workspace.dir, 'config/alerts.yaml'));
    env['SERVICE_ALERTS'] = '/srv/rules.yaml';
    expect(folder.load().alertFiles[0]).toBe('/srv/rules.yaml');
  });

  it('reads server.queue and a map under server.workers as the top-level keys', () => {
    const path = folder.file(
      'c.yaml',
      'server:\n  queue: { max_jobs: 7 }\n  workers: 2\n  workers: { lease: 40s }\n',
    );
    const { config, warnings } = folder.load({ file: path });
    expect([config.queue.max_jobs, config.server.workers, config.workers.lease]).toEqual([7, 2, 40_000]);
    expect(warnings).toEqual([`${path}:4:3 server.workers: given as a number and as a map; using both`]);
  });

  it('reads the same keys below SERVICE_SERVER, and refuses a key that a file gives in both places', () => {
    env['SERVICE_SERVER__QUEUE__MAX_JOBS'] = '5';
    expect(folder.load().config.queue.max_jobs).toBe(5);
    env['SERVICE_QUEUE__MAX_JOBS'] = '6';
    expect(folder.load().config.queue.max_jobs).toBe(6);
    const path = join(dir, 'bad.yaml');
    const both = folder.problemsOf('server:\n  queue: {max_jobs: 1}\nqueue:\n  max_jobs: 2\n');
    expect(both).toEqual([`f:4:3 queue.max_jobs: duplicate key, already set at ${path}:2:21`]);
  });

  it('reads the weights of tenants from files and from the environment', () => {
    const path = folder.file('w.yaml', 'multi_tenant: { weights: { acme: 3, globex: 100 } }\n');
    expect(folder.load({ file: path }).config.multi_tenant.weights).toEqual({ acme: 3, globex: 100 });
    env['SERVICE_MULTI_TENANT__WEIGHTS'] = 'acme=2, globex=5';
    expect(folder.load({ file: path }).config.multi_tenant.weights).toEqual({ acme: 2, globex: 5 });
    for (const wrong of [
      '{acme: 0}',
      '{acme: 101}',
      '{acme: 1.5}',
      '{acme: many}',
      '{"no name": 1}',
      '[acme]',
      '3',
    ])
      expect(folder.problemsOf(`multi_tenant: { weights: ${wrong} }\n`), wrong).toHaveLength(1);
  });

  it('keeps the number of workers within its bounds, and raises the highest that is not set', () => {
    const workersOf = (text: string) => {
      const { config, warnings } = folder.load({ file: folder.file('w.yaml', text) });
      return [config.server.workers, config.workers.max, warnings.length];
    };
    expect(workersOf('{}')).toEqual([4, 10, 0]);
    expect(workersOf('server: {workers: 20}')).toEqual([20, 20, 0]);
    expect(workersOf('server: {workers: 20}\nworkers: {max: 6}')).toEqual([6, 6, 1]);
    expect(workersOf('server: {workers: {min: 6}}')).toEqual([6, 10, 0]);
    expect(workersOf('workers: {max: 2}')).toEqual([2, 2, 0]);
    expect(workersOf('server: {workers: {min: 3, max: 12}, workers: 2}')).toEqual([3, 12, 2]);
  });
});

describe('checks', () => {
  it('reports all problems at once, with line, column and key', () => {
    expect(folder.problemsOf('server:\n  workers: many\n  bind: nowhere\nlogging:\n  level: loud\n')).toEqual(
      [
        'f:2:12 server.workers: must be a whole number, not "many"',
        'f:3:9 server.bind: must be host:port, not "nowhere"',
        'f:5:10 logging.level: must be one of trace, debug, info, warn, error, not "loud"',
      ],
    );
  });

  it.each([
    ['duration-without-unit', 'scanner: { timeout: 5 }', 'f:1:21 scanner.timeout: must be a duration'],
    ['negative', 'scanner: { retries: -1 }', 'f:1:21 scanner.retries: must be at least 0'],
    [
      'list-item',
      'scanner: { scope: { deny: [10.0.0.0/8, nonsense] } }',
      'entry 2 must be an address, a CIDR block or a range',
    ],
    ['map-expected', 'server: 5', 'f:1:9 server: must be a map of keys'],
    ['duplicate', 'scanner: { rate: 1 }\nscanner: { rate: 2 }', 'f:2:1 scanner: duplicate key'],
    ['syntax', 'server: [1, 2', 'f:1:'],
    ['tab', 'server:\n\tworkers: 2', 'f:2:1'],
    ['custom-tag', 'server: { bind: !!js/function "x" }', 'f:1:'],
    ['merge-key', 'a: &a { x: 1 }\nserver: { <<: *a }', 'merge keys are not supported'],
    ['two-documents', 'server: { workers: 1 }\n---\nserver: { workers: 2 }', 'f:2:1'],
    ['root-list', '- 1', 'must be a map of keys'],
    ['min-above-max', 'scanner: { rate: 20, max_rate: 10 }', 'must not be above scanner.max_rate'],
    ['empty-value', 'server: { bind: }', 'f:1:11 server.bind: missing value'],
  ])('refuses %s', (_rule, text, expected) => {
    const problems = folder.problemsOf(text);
    expect(problems.join('\n')).toContain(expected);
  });

  it('refuses a bad environment value by name', () => {
    env['SERVICE_RATE'] = 'fast';
    expect(folder.problemsOf('{}')).toEqual([
      'environment SERVICE_RATE scanner.rate: must be a whole number or auto, not "fast"',
    ]);
  });

  it('never serves in clear text who asks for TLS', () => {
    const needs = 'server.tls.enabled: needs server.tls.cert_file and server.tls.key_file';
    expect(folder.problemsOf('server:\n  tls:\n    enabled: true\n')).toEqual([`f:3:14 ${needs}`]);
    env['SERVICE_SERVER__TLS__ENABLED'] = 'yes';
    expect(() => folder.load()).toThrow(`environment SERVICE_SERVER__TLS__ENABLED ${needs}`);
    env['SERVICE_SERVER__TLS__CERT_FILE'] = '/c.pem';
    expect(() => folder.load()).toThrow('needs server.tls.key_file');
    env['SERVICE_SERVER__TLS__KEY_FILE'] = '/k.pem';
    expect(folder.load().config.server.tls).toEqual({
      enabled: true,
      cert_file: '/c.pem',
      key_file: '/k.pem',
    });
  });

  it.each([
    ['license: {enforce: true}', 'f:1:20 license.enforce: needs license.public_key'],
    [
      'multi_tenant: {tenants: [a], default_tenant: b}',
      'f:1:46 multi_tenant.default_tenant: "b" is not one of multi_tenant.tenants (a)',
    ],
    ['server: {ui: {path: /api}}', 'f:1:21 server.ui.path: must not equal or contain /api,'],
    ['server: {ui: {path: /x/Health}}', 'f:1:21 server.ui.path: must not equal or contain /health,'],
    ['server: {ui: {path: /metrics/ui}}', 'f:1:21 server.ui.path: must not equal or contain /metrics,'],
    ['workers: {min: 5, max: 4}', 'f:1:16 workers.min: must not be above workers.max (4, f:1:24)'],
    ['workers: {min: 20}', 'f:1:16 workers.min: must not be above workers.max (10, default)'],
    ['workers: {lease: 5s, heartbeat: 6s}', 'f:1:33 workers.heartbeat: must not be above workers.lease'],
    [
      'logging: {audit: {events: [api_access, login]}}',
      'f:1:27 logging.audit.events: entry 2 must be one of',
    ],
  ])('refuses what does not fit together: %s', (text, expected) => {
    const path = join(dir, 'bad.yaml');
    expect(folder.problemsOf(text).map((line) => line.replaceAll(path, 'f'))).toEqual([
      expect.stringContaining(expected),
    ]);
  });

  it('names the place of each of two values, whatever it is', () => {
    env['SERVICE_WORKERS__MAX'] = '3';
    expect(() => folder.load({ flags: { 'workers.min': 4 } })).toThrow(
      'flag workers.min: must not be above workers.max (3, environment SERVICE_WORKERS__MAX)',
    );
  });

  it('leaves a workspace that is a file to the workspace, which refuses it in better words', () => {
    const path = folder.file('not-a-folder', '');
    expect(folder.load({ flags: { 'workspace.dir': path } }).config.workspace.dir).toBe(path);
  });

  it('warns about an unknown key and names the nearest; strict refuses', () => {
    const path = folder.file('u.yaml', 'scaner:\n  rate: 5\nscanner:\n  ratte: 4\n');
    expect(folder.load({ file: path }).warnings.map((text) => text.replace(path, 'f'))).toEqual([
      'f:1:1 scaner: unknown key; did you mean scanner?',
      'f:4:3 scanner.ratte: unknown key; did you mean scanner.rate?',
    ]);
    expect(() => folder.load({ file: path, strict: true })).toThrow(PortolanError);
  });

  it('refuses a missing, a large and a deeply nested file, and one whose aliases multiply', () => {
    expect(() => folder.load({ file: join(dir, 'absent.yaml') })).toThrow(/no such file/);
    expect(folder.problemsOf(`a: "${'x'.repeat(1_100_000)}"`)[0]).toContain('larger than');
    expect(folder.problemsOf(`a: ${'['.repeat(50_000)}`)).not.toEqual([]);
    const bomb = [
      'a0: &a0 x',
      ...Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`),
    ];
    expect(folder.problemsOf(bomb.join('\n')).join()).toContain('more than 100 aliases');
  });
});
