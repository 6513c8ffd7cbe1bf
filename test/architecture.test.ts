import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, matchesGlob, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import tiers from '../vitest.config.ts';
import distributed from './distributed/vitest.config.ts';
import lab from './lab/vitest.config.ts';

const src = resolve(import.meta.dirname, '../src');

/** The layers of docs/architecture.md: a file imports only from lower ranks or its own folder. */
const ranks: Record<string, number> = {
  domain: 0,
  config: 1,
  net: 1,
  knowledge: 1,
  store: 1,
  telemetry: 1,
  engine: 2,
  workspace: 2,
  queue: 2,
  notify: 2,
  report: 3,
  modules: 4,
  alerts: 4,
  plugins: 4,
  'scan-run': 5,
  actions: 6,
  worker: 7,
  server: 8,
  cli: 8,
  'wiring.ts': 9,
  'main.ts': 10,
};
/** Lines of a file of code; a longer one has more than one subject. */
const maxLines = 500;
/** Longer files: lists that nobody reads from top to bottom, one entry per thing. */
const dataTables: Record<string, string> = {
  'config/schema.ts': 'every key of the configuration',
  'knowledge/hosts/device-rules.ts': 'rules by device',
};
/** Lists of signatures by product. */
const signatures = 'knowledge/signatures/';
/** What reads the files of a record, in `workspace/record/`. Readers of records take a `ScanRecord` instead. */
const fileReaders = [
  'open-record',
  'record-files',
  'record-members',
  'record-merge',
  'record-recovery',
  'record-sequence',
  'record-source',
  'record-tail',
  'record-view',
  'sealed-bytes',
];
/** Who reads them from outside, and why. */
const readersOfFiles: Record<string, string> = {
  'server/shards/gathered-rows.ts': 'writes the parts of a record that workers have stored',
  'worker/earlier-rows.ts': 'writes the part of a record that earlier attempts have stored',
  'worker/shard-results.ts': 'counts the rows of a part of a record',
  'worker/shard-upload.ts': 'stores the part of a record that this worker writes, block by block',
  'workspace/render/archive.ts': 'copies every file of a scan; asks how much of a growing one is valid',
};
/** Who knows that the record of a scan lies in a folder of this machine, and why; all others get it from those. */
const knowThePlace: Record<string, string> = {
  'actions/record-index/index-service.ts': 'another thread, to which the place was sent',
  'actions/workspace/': 'checks and repairs the folders of a workspace',
  'cli/': 'works without a server, in the workspace of this machine',
  'report/thread/render-job.ts': 'another thread, to which the place was sent',
  'scan-run/': 'the process that writes the record: resumes, finishes, reports',
  'server/results/index-keeper.ts': 'prepares what has ended on this server',
  'server/results/scan-folders.ts': 'finds the record for everybody else',
  'server/scans/scan-end.ts': 'ends what ran on this server',
};
const vagueNames = /^(utils?|common|helpers?|misc|manager|base|index|shared|lib)(\.|$)/;
const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.(worker|test|integration|system|root|fixture))*\.ts$/;
const moduleName = /^[a-z0-9]+(_[a-z0-9]+)*((\.(integration|root))?\.test)?\.ts$/;

function sourceFiles(dir = src): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    // What a generator wrote has its own names.
    if (entry.isDirectory()) return entry.name === 'gen' ? [] : sourceFiles(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

const files = sourceFiles();

function folderOf(file: string): string {
  return relative(src, file).split('/')[0] as string;
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const pattern = /(?:from\s+|import\s*\(\s*|import\s+)'(\.[^']*)'/g;
  return [...text.matchAll(pattern)].map((match) => resolve(dirname(file), match[1] as string));
}

/** Chains of imports of any kind (static, of types, dynamic) that lead back to where they began. */
function cycles(): string[] {
  const graph = new Map(files.map((file) => [file, importsOf(file)]));
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (file: string, path: string[]) => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      found.push([...path.slice(path.indexOf(file)), file].map((f) => relative(src, f)).join(' -> '));
      return;
    }
    state.set(file, 'open');
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    state.set(file, 'done');
  };
  for (const file of files) visit(file, []);
  return found;
}

describe('the layout', () => {
  it('has sources in every folder that the architecture names', () => {
    expect(new Set(files.map(folderOf))).toEqual(new Set(Object.keys(ranks)));
  });

  it('imports run one way', () => {
    const breaches: string[] = [];
    for (const file of files.filter((f) => !f.endsWith('.test.ts'))) {
      for (const target of importsOf(file)) {
        const [from, to] = [folderOf(file), folderOf(target)];
        if (from !== to && (ranks[to] ?? 99) >= (ranks[from] as number)) {
          breaches.push(`${relative(src, file)} imports ${relative(src, target)}`);
        }
      }
    }
    expect(breaches).toEqual([]);
  });

  it('has no cycle', () => {
    expect(cycles()).toEqual([]);
  });

  it('has no file of code above 500 lines', () => {
    const long = files
      .filter((file) => !file.endsWith('.test.ts'))
      .filter((file) => readFileSync(file, 'utf8').split('\n').length - 1 > maxLines)
      .map((file) => relative(src, file))
      .filter((file) => !file.startsWith(signatures));
    expect(long.sort()).toEqual(Object.keys(dataTables).sort());
  });

  it('names files after what they are', () => {
    const odd = files.filter((file) => {
      const name = basename(file).replace(/\.d\.ts$/, '.ts');
      const inModules = folderOf(file) === 'modules';
      return vagueNames.test(name) || !(kebab.test(name) || (inModules && moduleName.test(name)));
    });
    expect(odd.map((file) => relative(src, file))).toEqual([]);
  });

  it('opens sockets to targets in net/ only', () => {
    const imports = /^import (?!type)(.*) from 'node:(?:net|dgram|tls|dns|dns\/promises)'/gm;
    // What opens nothing: types, looking at an address, and looking at a certificate.
    const harmless = /^(?:type .*|isIP|isIPv[46]|createSecureContext|checkServerIdentity|getCACertificates)$/;
    const opens = (text: string) =>
      [...text.matchAll(imports)]
        .flatMap(([, names = '']) => names.replace(/[{}]/g, '').split(','))
        .some((name) => !harmless.test(name.trim()));
    const allowed = (file: string) => folderOf(file) === 'net' || file.endsWith('.test.ts');
    const openers = files.filter((file) => !allowed(file) && opens(readFileSync(file, 'utf8')));
    expect(openers.map((file) => relative(src, file))).toEqual([]);
  });

  it('opens the files of records in one place', () => {
    const imports = (target: string) =>
      files.filter((file) => !file.endsWith('.test.ts') && importsOf(file).includes(join(src, target)));
    const outside = (file: string) => !relative(src, file).startsWith('workspace/record/');
    const readers = fileReaders.flatMap((name) => imports(`workspace/record/${name}.ts`)).filter(outside);
    expect([...new Set(readers.map((file) => relative(src, file)))].sort()).toEqual(
      Object.keys(readersOfFiles).sort(),
    );
    const knowing = imports('workspace/record/folder-record.ts')
      .filter(outside)
      .map((file) => relative(src, file));
    const unused = Object.keys(knowThePlace).filter(
      (place) => !knowing.some((file) => file.startsWith(place)),
    );
    const odd = knowing.filter(
      (file) =>
        !Object.keys(knowThePlace).some((place) => file.startsWith(place)) && !file.includes('/fixtures/'),
    );
    expect({ odd, unused }).toEqual({ odd: [], unused: [] });
  });

  it('keeps the query language fit for browsers', () => {
    const queries = files.filter(
      (file) => dirname(relative(src, file)) === 'domain/query' && !file.endsWith('.test.ts'),
    );
    // Flattens rows of the record, for the server.
    const reached = new Set(queries.filter((file) => basename(file) !== 'index-rows.ts'));
    for (const file of reached) for (const target of importsOf(file)) reached.add(target);
    expect(reached.size).toBeGreaterThan(12);
    const bound = [...reached].filter((file) => /\bBuffer\b|['"]node:/.test(readFileSync(file, 'utf8')));
    expect(bound.map((file) => relative(src, file))).toEqual([]);
  });

  it('calls foreign functions in three files only', () => {
    const callers = files.filter((file) => /['"]koffi['"]/.test(readFileSync(file, 'utf8')));
    expect(callers.map((file) => relative(src, file)).sort()).toEqual([
      'net/packets/linux/sys.ts',
      // Runs where the rest of the program may not be read, as does the sandbox.
      'plugins/host/native/foreign.ts',
      'plugins/sandbox/kernel.ts',
    ]);
  });

  it('gives every scan module a test beside it', () => {
    const modules = files.filter(
      (file) => folderOf(file) === 'modules' && /^[a-z0-9]+(_[a-z0-9]+)+\.ts$/.test(basename(file)),
    );
    const tests = ['.test.ts', '.integration.test.ts', '.root.test.ts'];
    const untested = modules.filter(
      (file) => !tests.some((end) => files.includes(file.replace(/\.ts$/, end))),
    );
    expect(untested.map((file) => relative(src, file))).toEqual([]);
  });
});

/** Patterns of one tier, as vitest reads them: paths from the root of the repository. */
interface Tier {
  name?: unknown;
  include?: string[];
  exclude?: string[];
}

describe('the tests', () => {
  const projects = (tiers.test?.projects ?? []) as { test: Tier }[];
  const all: Tier[] = [
    ...projects.map(({ test }) => test),
    { ...(lab.test as Tier), name: 'lab' },
    { ...(distributed.test as Tier), name: 'distributed' },
  ];
  const root = dirname(src);
  const tests = [...sourceFiles(), ...sourceFiles(join(root, 'ui/src')), ...sourceFiles(join(root, 'test'))]
    .map((file) => relative(root, file))
    .filter((file) => file.endsWith('.test.ts'));
  const matches = (patterns: string[] | undefined, file: string) =>
    (patterns ?? []).some((pattern) => matchesGlob(file, pattern));
  const tiersOf = (file: string) =>
    all
      .filter(({ include, exclude }) => matches(include, file) && !matches(exclude, file))
      .map(({ name }) => String(name));

  it('belong to one tier each', () => {
    const wrong = tests.map((file) => [file, ...tiersOf(file)]).filter(({ length }) => length !== 2);
    expect(wrong).toEqual([]);
  });

  it('leave no tier empty', () => {
    const used = new Set(tests.flatMap(tiersOf));
    expect([...used].sort()).toEqual(all.map(({ name }) => String(name)).sort());
  });

  it('lie in src/, ui/src/ and test/ only, where the tiers look for them', () => {
    const elsewhere = ['bench', 'bin', 'packaging', 'profiles'].flatMap((folder) =>
      sourceFiles(join(root, folder)).filter((file) => /\.(?:test|spec)\.ts$/.test(file)),
    );
    expect(elsewhere.map((file) => relative(root, file))).toEqual([]);
  });
});
