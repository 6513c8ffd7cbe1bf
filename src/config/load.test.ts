import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PortolanError } from '../domain/errors.ts';
import { type LoadInput, loadConfig } from './load.ts';
import { configKeys, environmentNames } from './schema.ts';

let dir: string;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-config-'));
  env = { HOME: dir };
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(dir, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function load(input: Partial<LoadInput> = {}) {
  return loadConfig({ env, systemFile: join(dir, 'none.yaml'), ...input });
}

function problemsOf(text: string, input: Partial<LoadInput> = {}): string[] {
  const path = file('bad.yaml', text);
  try {
    load({ file: path, ...input });
  } catch (error) {
    expect(error).toBeInstanceOf(PortolanError);
    expect((error as PortolanError).exitCode).toBe(3);
    return ((error as PortolanError).details['problems'] as string[]).map((line) => line.replace(path, 'f'));
  }
  return [];
}

describe('folders', () => {
  it('takes absolute XDG folders only', () => {
    env['XDG_DATA_HOME'] = 'somewhere/else';
    expect(load().config.workspace.dir).toBe(join(dir, '.local/share/portolan'));
    env['XDG_DATA_HOME'] = join(dir, 'data');
    expect(load().config.workspace.dir).toBe(join(dir, 'data/portolan'));
  });
});

describe('defaults', () => {
  it('reads every key, durations as milliseconds', () => {
    const { config, warnings, origins } = load();
    expect(warnings).toEqual([]);
    expect(config.server.bind).toBe('127.0.0.1:8080');
    expect(config.server.api.auth).toBeNull();
    expect(config.scanner.timeout).toBe(3000);
    expect(config.engine.global_timeout).toBe(0);
    expect(config.workspace.dir).toBe(join(dir, '.local/share/portolan'));
    expect(origins.get('server.bind')).toBe('default');
    expect(origins.size).toBe(configKeys.length);
  });
});

describe('precedence', () => {
  it('takes defaults < machine < user < workspace < named file < environment < flags', () => {
    const all = ['scanner.rate: 1', 'scanner.rate: 2', 'scanner.rate: 3', 'scanner.rate: 4'].map((line) =>
      line.replace('scanner.rate', 'scanner:\n  rate'),
    );
    const systemFile = file('etc.yaml', all[0] as string);
    const steps: { expected: number; input: Partial<LoadInput>; prepare?: () => void }[] = [
      { expected: 1, input: {} },
      { expected: 2, input: {}, prepare: () => file('.config/portolan/config.yaml', all[1] as string) },
      { expected: 3, input: {}, prepare: () => file('ws/config/portolan.yaml', all[2] as string) },
      { expected: 4, input: { file: file('named.yaml', all[3] as string) } },
    ];
    env['SERVICE_WORKSPACE_DIR'] = join(dir, 'ws');
    for (const step of steps) {
      step.prepare?.();
      expect(load({ systemFile, ...step.input }).config.scanner.rate).toBe(step.expected);
    }
    env['SERVICE_CONFIG'] = join(dir, 'named.yaml');
    expect(load({ systemFile }).config.scanner.rate).toBe(4);
    env['SERVICE_RATE'] = '5';
    const { config, origins } = load({ systemFile });
    expect(config.scanner.rate).toBe(5);
    expect(origins.get('scanner.rate')).toBe('environment SERVICE_RATE');
    expect(load({ systemFile, flags: { 'scanner.rate': 6 } }).config.scanner.rate).toBe(6);
  });

  it('prefers --config to SERVICE_CONFIG and names file, line and column as origin', () => {
    env['SERVICE_CONFIG'] = file('a.yaml', 'server:\n  workers: 2\n');
    const named = file('b.yaml', 'server:\n  workers: 3\n');
    const { config, origins } = load({ file: named });
    expect(config.server.workers).toBe(3);
    expect(origins.get('server.workers')).toBe(`${named}:2:12`);
  });

  it('reads every key from the environment by the naming rule', () => {
    env['SERVICE_SCANNER__SCOPE__DENY'] = '10.0.0.0/8, 192.0.2.1';
    env['SERVICE_SERVER__API__AUTH'] = 'true';
    env['SERVICE_WORKERS__LEASE'] = '1m';
    env['SERVICE_SOMETHING_ELSE'] = 'ignored';
    const { config } = load();
    expect(config.scanner.scope.deny).toEqual(['10.0.0.0/8', '192.0.2.1']);
    expect(config.server.api.auth).toBe(true);
    expect(config.workers.lease).toBe(60_000);
    for (const key of configKeys)
      expect(environmentNames(key).every((name) => name.startsWith('SERVICE_'))).toBe(true);
  });

  it('reads server.queue and a map under server.workers as the top-level keys', () => {
    const path = file(
      'c.yaml',
      'server:\n  queue: { max_jobs: 7 }\n  workers: 2\n  workers: { lease: 40s }\n',
    );
    const { config, warnings } = load({ file: path });
    expect([config.queue.max_jobs, config.server.workers, config.workers.lease]).toEqual([7, 2, 40_000]);
    expect(warnings).toEqual([
      `${path}:4:3 server.workers: is given as a number and as a map; both are used`,
    ]);
  });
});

describe('checks', () => {
  it('reports all problems at once, with line, column and key', () => {
    expect(problemsOf('server:\n  workers: many\n  bind: nowhere\nlogging:\n  level: loud\n')).toEqual([
      'f:2:12 server.workers: must be a whole number, not "many"',
      'f:3:9 server.bind: must be host:port, not "nowhere"',
      'f:5:10 logging.level: must be one of trace, debug, info, warn, error, not "loud"',
    ]);
  });

  it.each([
    ['duration-without-unit', 'scanner: { timeout: 5 }', 'f:1:21 scanner.timeout: must be a duration'],
    ['negative', 'scanner: { retries: -1 }', 'f:1:21 scanner.retries: must be at least 0'],
    [
      'list-item',
      'scanner: { scope: { deny: [10.0.0.0/8, nonsense] } }',
      'entry 2 must be an address or a CIDR',
    ],
    ['map-expected', 'server: 5', 'f:1:9 server: must be a map of keys'],
    ['duplicate', 'scanner: { rate: 1 }\nscanner: { rate: 2 }', 'f:2:1 scanner: is given twice'],
    ['syntax', 'server: [1, 2', 'f:1:'],
    ['tab', 'server:\n\tworkers: 2', 'f:2:1'],
    ['custom-tag', 'server: { bind: !!js/function "x" }', 'f:1:'],
    ['merge-key', 'a: &a { x: 1 }\nserver: { <<: *a }', 'merge keys are not supported'],
    ['two-documents', 'server: { workers: 1 }\n---\nserver: { workers: 2 }', 'f:2:1'],
    ['root-list', '- 1', 'must be a map of keys'],
    ['min-above-max', 'scanner: { rate: 20, max_rate: 10 }', 'must not be above scanner.max_rate'],
    ['empty-value', 'server: { bind: }', 'f:1:11 server.bind: has no value'],
  ])('refuses %s', (_rule, text, expected) => {
    const problems = problemsOf(text);
    expect(problems.join('\n')).toContain(expected);
  });

  it('refuses a bad environment value by name', () => {
    env['SERVICE_RATE'] = 'fast';
    expect(problemsOf('{}')).toEqual([
      'environment SERVICE_RATE scanner.rate: must be a whole number, not "fast"',
    ]);
  });

  it('never serves in clear text who asks for TLS', () => {
    expect(problemsOf('server:\n  tls:\n    enabled: true\n')[0]).toContain(
      '3:14 server.tls.enabled: this build',
    );
    env['SERVICE_SERVER__TLS__ENABLED'] = 'yes';
    expect(() => load()).toThrow(/environment SERVICE_SERVER__TLS__ENABLED server.tls.enabled: this build/);
  });

  it('leaves a workspace that is a file to the workspace, which refuses it in better words', () => {
    const path = file('not-a-folder', '');
    expect(load({ flags: { 'workspace.dir': path } }).config.workspace.dir).toBe(path);
  });

  it('warns about an unknown key and names the nearest; strict refuses', () => {
    const path = file('u.yaml', 'scaner:\n  rate: 5\nscanner:\n  ratte: 4\n');
    expect(load({ file: path }).warnings.map((text) => text.replace(path, 'f'))).toEqual([
      'f:1:1 scaner: is not a known key; did you mean scanner?',
      'f:4:3 scanner.ratte: is not a known key; did you mean scanner.rate?',
    ]);
    expect(() => load({ file: path, strict: true })).toThrow(PortolanError);
  });

  it('refuses a missing, a large and a deeply nested file without delay (T-032)', () => {
    expect(() => load({ file: join(dir, 'absent.yaml') })).toThrow(/no such file/);
    expect(problemsOf(`a: "${'x'.repeat(1_100_000)}"`)[0]).toContain('is larger than');
    const started = performance.now();
    expect(problemsOf(`a: ${'['.repeat(50_000)}`)).not.toEqual([]);
    const bomb = [
      'a0: &a0 x',
      ...Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`),
    ];
    expect(problemsOf(bomb.join('\n')).join()).toContain('more than 100 aliases');
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

describe('interpolation', () => {
  it('fills ${NAME} and ${NAME:-default} once, and warns about an unset name', () => {
    env['BIND'] = '127.0.0.1:${PORT}';
    env['PORTS'] = '9';
    const path = file(
      'i.yaml',
      'server:\n  workers: ${PORTS}\nscanner:\n  default_profile: "${P:-quick}${NONE}"\n',
    );
    const { config, warnings } = load({ file: path });
    expect(config.server.workers).toBe(9);
    expect(config.scanner.default_profile).toBe('quick');
    expect(warnings.join()).toContain('scanner.default_profile: environment variable NONE is not set');
    expect(problemsOf('server: { bind: "${BIND}" }').join()).toContain(
      'must be host:port, not "127.0.0.1:${PORT}"',
    );
  });
});
