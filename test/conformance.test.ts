import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isStandardKey } from '../src/engine/data/data-keys.ts';
import { GraphLibrary } from '../src/engine/graph/graph-library.ts';
import { validateGraph } from '../src/engine/graph/validate.ts';
import type { ModuleDefinition } from '../src/engine/module.ts';
import { validateOptions } from '../src/engine/options.ts';
import { Registry, registerModules } from '../src/engine/registry.ts';
import { tryModule } from './module-trial.ts';
import { root } from './program.ts';

const registry = new Registry();
let library: GraphLibrary;
let modules: ModuleDefinition[] = [];
/** The module that CONTRIBUTING.md shows. */
let example: ModuleDefinition[] = [];
let exampleFolder = '';

beforeAll(async () => {
  exampleFolder = await mkdtemp(join(tmpdir(), 'portolan-example-'));
  example = await buildExample(exampleFolder);
  await registerModules(registry, join(root, 'src/modules'));
  library = await GraphLibrary.load(join(root, 'profiles'), 'builtin', registry);
  modules = registry.list();
});
afterAll(() => rm(exampleFolder, { recursive: true, force: true }));

/** Writes the first module of the page into a folder of its own and loads it as the program loads its own. */
async function buildExample(folder: string): Promise<ModuleDefinition[]> {
  const page = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
  const code = /```ts\n([\s\S]*?defineModule[\s\S]*?)```/.exec(page)?.[1] ?? '';
  const [, name = ''] = /name: '(\w+)'/.exec(code) ?? [];
  await mkdir(join(folder, 'parser'));
  const source = code.replaceAll("'../../", `'${root}/src/`);
  await writeFile(join(folder, 'parser', `${name}.ts`), source);
  const found = new Registry();
  await registerModules(found, folder);
  return found.list();
}

const endlessRecord = {
  port: 9,
  protocol: 'tcp',
  state: 'open',
  reason: 'syn-ack',
  method: 'test',
  latency_ms: null,
  banner: '220 x ESMTP',
  probe: 'null',
  truncated: false,
  partial: false,
  service: 'smtp',
  confidence: 0.5,
};

/** Contract 9.5, as far as this build goes. */
const expected = [
  'arp_discovery',
  'asset_profiler',
  'banner_fingerprinter',
  'banner_grabber',
  'compliance_evaluator',
  'connect_scanner',
  'csv_reporter',
  'cve_matcher',
  'device_classifier',
  'fingerprint_coordinator',
  'ftp_parser',
  'html_reporter',
  'http_fingerprinter',
  'http_parser',
  'icmp_discovery',
  'json_reporter',
  'jsonl_reporter',
  'misconfig_checker',
  'os_classifier',
  'pdf_reporter',
  'rule_evaluator',
  'smtp_parser',
  'ssh_parser',
  'syn_scanner',
  'tcp_probe_discovery',
  'tls_fingerprinter',
  'tls_parser',
  'udp_scanner',
  'weak_cipher_checker',
];

it('every module of the contract is registered under its name', () => {
  expect(registry.names()).toEqual(expected);
});

describe.each([
  ['every module', () => modules],
  ['the example of CONTRIBUTING.md', () => example],
])('%s', (_, definitions) => {
  it('exists', () => {
    expect(definitions().length).toBeGreaterThan(0);
  });

  it('describes itself and its options', () => {
    for (const definition of definitions()) {
      expect(definition.version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(definition.description).toMatch(/^[A-Z].{15,}\.$/);
      for (const [name, option] of Object.entries(definition.options)) {
        const label = `${definition.name}.${name}`;
        expect(name, label).toMatch(/^[a-z][a-z0-9_]*$/);
        expect(option.Description, label).toMatch(/^\S.{5,}\.$/);
        expect(option.Required || option.Default !== undefined, `${label} has a default`).toBe(true);
        if (option.Type === 'int' || option.Type === 'duration') {
          expect(option.Min, `${label} has a lower bound`).toBeTypeOf('number');
          expect(option.Max, `${label} has an upper bound`).toBeTypeOf('number');
        }
      }
    }
  });

  it('accepts its own defaults and refuses unknown options', () => {
    for (const definition of definitions()) {
      expect(validateOptions(definition.options, {}).problems, definition.name).toEqual([]);
      const { problems } = validateOptions(definition.options, { no_such_option: 1 });
      expect(problems[0]?.field).toBe('no_such_option');
    }
  });

  it('speaks of keys that exist', () => {
    for (const definition of definitions()) {
      const keys = [...definition.requires.flatMap((key) => key.split('|')), ...definition.provides];
      for (const key of keys) expect(isStandardKey(key), `${definition.name}: ${key}`).toBe(true);
    }
  });

  it('makes instances that are configured one by one', async () => {
    for (const definition of definitions()) {
      const instance = definition.create();
      expect(instance.name()).toBe(definition.name);
      expect(() => instance.configure({ no_such_option: 1 })).toThrow('no_such_option');
      await instance.initialize();
      await instance.configure({});
      await instance.cleanup();
    }
  });
});

/** Resolves to nothing after so many milliseconds, and keeps no process alive. */
const late = (ms: number) =>
  new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), ms).unref());

describe('every module that talks to the network or reads a stream', () => {
  const endless = (async function* () {
    for (let i = 0; ; i++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      yield {
        ...endlessRecord,
        host: `127.9.${(i >> 8) & 255}.${i & 255}`,
        ip: `127.9.${(i >> 8) & 255}.${i & 255}`,
      };
    }
  })();

  it('ends at a cancel', async () => {
    for (const definition of [...modules, ...example].filter((module) => module.type !== 'reporter')) {
      const abort = new AbortController();
      const inputs = Object.fromEntries(definition.requires.map((key) => [key.split('|')[0], endless]));
      const running = tryModule(definition, {
        // Whoever waits for an answer all the same comes too late.
        config: 'timeout' in definition.options ? { timeout: '60s' } : {},
        inputs: inputs as unknown as Record<string, unknown[]>,
        targets: ['127.9.0.0/16'],
        signal: abort.signal,
      }).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 50));
      abort.abort(new Error('canceled'));
      const ended = running.then(() => definition.name);
      expect(await Promise.race([ended, late(10_000)])).toBe(definition.name);
    }
  }, 60_000);
});

describe('the streams of every module', () => {
  it('are those that it declares', async () => {
    for (const definition of [...modules, ...example]) {
      for (const { way, declared } of waysToRun(definition)) {
        // As far as the module can see, every key is there but those it would prefer.
        const opened = await openedKeys(definition, (key) => !way.without.includes(key));
        const label = `${definition.name} without ${way.without.join() || 'nothing'}`;
        expect(
          opened.filter((key) => !declaredKeys(definition).includes(key)),
          label,
        ).toEqual([]);
        expect(
          declared.filter((key) => key !== fromGate && !opened.includes(key)),
          label,
        ).toEqual([]);
      }
    }
  });

  it('may lack what it only reads', async () => {
    for (const definition of [...modules, ...example]) {
      for (const { way } of waysToRun(definition)) {
        const opened = await openedKeys(definition, (key) => way.requires.includes(key));
        expect(way.requires, definition.name).toEqual(expect.arrayContaining(opened));
      }
    }
  });
});

/** A module gets the addresses of the targets from its gate, and opens the stream only for their names. */
const fromGate = 'targets';

const declaredKeys = ({ requires, reads }: ModuleDefinition) => [
  ...requires.flatMap((key) => key.split('|')),
  ...reads,
];

/** One way for each alternative of what a module requires; with the preferred ones it reads its optional keys as well. */
function waysToRun({ requires, reads }: ModuleDefinition) {
  const choices = requires.map((key) => key.split('|'));
  const ways = Math.max(1, ...choices.map(({ length }) => length));
  return Array.from({ length: ways }, (_, number) => {
    const chosen = (keys: string[]) => Math.min(number, keys.length - 1);
    const way = {
      requires: choices.map((keys) => keys[chosen(keys)] as string),
      without: choices.flatMap((keys) => keys.slice(0, chosen(keys))),
    };
    return { way, declared: number === 0 ? [...way.requires, ...reads] : way.requires };
  });
}

/** The keys that a module opens, with empty streams and no address to scan. */
async function openedKeys(definition: ModuleDefinition, has: (key: string) => boolean): Promise<string[]> {
  const opened = new Set<string>();
  const inputs = new Proxy<Record<string, unknown[]>>(
    {},
    {
      has: (_, key) => isStandardKey(String(key)) && has(String(key)),
      get: (_, key) => void opened.add(String(key)),
    },
  );
  // Reporters read the results of the scan.
  if (definition.type !== 'reporter') await tryModule(definition, { inputs, targets: [] });
  return [...opened];
}

it('the example of CONTRIBUTING.md publishes the first line of a banner', async () => {
  const banner = { ...endlessRecord, host: '127.0.0.1', banner: '220 mx.example ESMTP\r\n250 ok' };
  const { published } = await tryModule(example[0] as ModuleDefinition, { inputs: { banners: [banner] } });
  expect(published.get('parsed_services')).toMatchObject([
    { host: '127.0.0.1', port: 9, service: 'smtp', attributes: { greeting: '220 mx.example ESMTP' } },
  ]);
});

describe('every builtin graph', () => {
  it('is there under the names of the contract', () => {
    expect(library.profileNames().sort()).toEqual([
      'deep',
      'full_scan',
      'infrastructure',
      'quick',
      'quick_discovery',
      'standard',
      'webapp',
    ]);
    expect(library.get('discovery-only')?.kind).toBe('dag');
    expect(library.get('port-scan')?.kind).toBe('dag');
    expect(library.get('vuln-scan')?.kind).toBe('dag');
  });

  it('is valid, without a warning, and says what it does', () => {
    for (const entry of library.list()) {
      expect(validateGraph(entry.graph, registry), entry.name).toEqual({ errors: [], warnings: [] });
      expect(entry.description.length, entry.name).toBeGreaterThan(20);
    }
  });
});
