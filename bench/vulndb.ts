/**
 * The vulnerability database with records that are made up, as many as NVD has: how long an import takes, and what it
 * costs to open it and to ask it. Needs nothing but disk (some 2 GB in the temporary folder).
 *
 *   npm run bench:vulndb                     300,000 CVEs
 *   npm run bench:vulndb -- --cves 30000
 *   npm run bench:vulndb -- --write          the table goes to bench/README.md as well
 */
import { fork } from 'node:child_process';
import {
  createWriteStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import { importVulndb } from '../src/actions/catalogs/import-vulndb.ts';
import { openVulndb } from '../src/knowledge/vulndb/generation/generation.ts';

const { values: flags } = parseArgs({
  options: {
    cves: { type: 'string', default: '300000' },
    write: { type: 'boolean', default: false },
    role: { type: 'string' },
    dir: { type: 'string', default: '' },
  },
});
const cves = Number(flags.cves);
/** Products; the first ones have very many CVEs, the last ones one or two. */
const products = 60_000;

/** The same numbers in each run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(5);
const below = (count: number) => Math.floor(random() * count);
/** Zipf's law with a flat beginning: the first one gets some 8000 of 300,000 CVEs, as an operating system has. */
const anyProduct = () => Math.floor(8 * (1 + products / 8) ** random()) - 8;
const words =
  'attacker remote crafted overflow request buffer allows execute arbitrary code server before via'.split(
    ' ',
  );

const cpeOf = (product: number, version = '*') =>
  `cpe:2.3:a:vendor_${product % 9000}:product_${product}:${version}:*:*:*:*:*:*:*`;

function matchesOf(product: number) {
  const [major, minor] = [1 + below(12), below(40)];
  if (random() < 0.6) {
    const start = random() < 0.5 && { versionStartIncluding: `${major}.0` };
    return [
      {
        vulnerable: true,
        criteria: cpeOf(product),
        ...start,
        versionEndExcluding: `${major}.${minor}.${below(30)}`,
      },
    ];
  }
  return Array.from({ length: 1 + below(24) }, (_, patch) => ({
    vulnerable: true,
    criteria: cpeOf(product, `${major}.${minor}.${patch}`),
  }));
}

function configurationsOf() {
  return Array.from({ length: 1 + below(3) }, () => {
    const node = { operator: 'OR', negate: false, cpeMatch: matchesOf(anyProduct()) };
    if (random() > 0.12) return { nodes: [node] };
    const platform = [{ vulnerable: false, criteria: cpeOf(anyProduct()) }];
    return { operator: 'AND', nodes: [node, { operator: 'OR', negate: false, cpeMatch: platform }] };
  });
}

function recordOf(index: number) {
  const id = `CVE-${1999 + (index % 28)}-${10_000 + Math.floor(index / 28)}`;
  const text = Array.from({ length: 30 + below(50) }, () => words[below(words.length)]).join(' ');
  const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
  const data = { version: '3.1', vectorString: vector, baseScore: below(101) / 10 };
  const links = Array.from({ length: 1 + below(6) }, (_, at) => ({
    url: `https://advisory.example/${id}/${at}`,
  }));
  return {
    id,
    published: '2020-01-01T00:00:00.000',
    lastModified: '2026-01-01T00:00:00.000',
    vulnStatus: 'Analyzed',
    descriptions: [{ lang: 'en', value: text }],
    metrics: { cvssMetricV31: [{ source: 'nvd@nist.gov', type: 'Primary', cvssData: data }] },
    weaknesses: [{ description: [{ lang: 'en', value: `CWE-${1 + below(1000)}` }] }],
    configurations: configurationsOf(),
    references: links,
  };
}

function* feedText() {
  yield '{"format":"NVD_CVE","version":"2.0","vulnerabilities":[';
  for (let index = 0; index < cves; index++) {
    yield `${index === 0 ? '' : ','}${JSON.stringify({ cve: recordOf(index) })}`;
  }
  yield ']}';
}

function* epssText() {
  yield '#model_version:bench,score_date:2026-11-21T00:00:00+0000\ncve,epss,percentile\n';
  for (let index = 0; index < cves; index++) {
    yield `${recordId(index)},${(below(100_000) / 100_000).toFixed(5)},${(below(100_000) / 100_000).toFixed(5)}\n`;
  }
}

const recordId = (index: number) => `CVE-${1999 + (index % 28)}-${10_000 + Math.floor(index / 28)}`;

async function pack(path: string, text: Iterable<string>): Promise<void> {
  await pipeline(text, createGzip({ level: 1 }), createWriteStream(path));
}

/** Most memory that this process ever had, MB (getrusage(2)). */
const peakMb = () => process.resourceUsage().maxRSS / 1024;
const rssMb = () => process.memoryUsage.rss() / 1_048_576;

type Figures = Record<string, number>;

async function measureImport(dir: string): Promise<Figures> {
  const start = performance.now();
  const paths = readdirSync(dir).filter((name) => name.endsWith('.gz'));
  await importVulndb({ dir: join(dir, 'db'), paths: paths.map((name) => join(dir, name)), replace: false });
  return { seconds: (performance.now() - start) / 1000, peakMb: peakMb() };
}

/** A change of one source, and one of a few records: what a daily sync does. */
async function measureUpdate(dir: string): Promise<Figures> {
  const one = join(dir, 'one.json');
  writeFileSync(
    one,
    JSON.stringify({
      vulnerabilities: [{ cve: { ...recordOf(1), lastModified: '2026-11-21T00:00:00.000' } }],
    }),
  );
  const start = performance.now();
  await importVulndb({ dir: join(dir, 'db'), paths: [one], replace: false });
  const records = performance.now() - start;
  await importVulndb({ dir: join(dir, 'db'), paths: [join(dir, 'epss.csv.gz')], replace: false });
  return {
    recordSeconds: records / 1000,
    epssSeconds: (performance.now() - start - records) / 1000,
    peakMb: peakMb(),
  };
}

async function measureReading(dir: string): Promise<Figures> {
  const start = performance.now();
  const db = await openVulndb(join(dir, 'db'));
  if (db === null) throw new Error('there is no database');
  const openMs = performance.now() - start;
  const openMb = rssMb();
  const asked = Array.from({ length: 3000 }, anyProduct);
  const ask = (product: number) => {
    const before = performance.now();
    const found = db.lookup(`vendor_${product % 9000}`, `product_${product}`);
    for (const { configurations } of found)
      if (configurations.length === 0) throw new Error('an empty record');
    return { ms: performance.now() - before, found: found.length };
  };
  const first = asked.map(ask);
  const readMb = rssMb();
  const usual = first.filter(({ found }) => found <= 100);
  const again = asked.slice(-20).flatMap((product) => {
    ask(product);
    return Array.from({ length: 50 }, () => {
      const before = performance.now();
      db.lookup(`vendor_${product % 9000}`, `product_${product}`);
      return performance.now() - before;
    });
  });
  const rankStart = performance.now();
  db.rank(recordId(0));
  const firstRankMs = performance.now() - rankStart;
  const ranks = Array.from({ length: 10_000 }, () => {
    const before = performance.now();
    db.rank(recordId(below(cves)));
    return performance.now() - before;
  });
  const largest = ask(0);
  const last = db.lookup('vendor_0', 'product_0').at(-1);
  const textStart = performance.now();
  if (last?.description === '') throw new Error('no text');
  const textMs = performance.now() - textStart;
  return {
    openMs,
    openMb,
    readMb,
    coldMedian: share(
      usual.map(({ ms }) => ms),
      0.5,
    ),
    cold99: share(
      usual.map(({ ms }) => ms),
      0.99,
    ),
    warmMedian: share(again, 0.5),
    warm99: share(again, 0.99),
    firstRankMs,
    rank99: share(ranks, 0.99),
    largest: largest.found,
    largestMs: largest.ms,
    textMs,
    endMb: rssMb(),
  };
}

function share(values: number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;
}

const roles: Record<string, (dir: string) => Promise<Figures>> = {
  import: measureImport,
  update: measureUpdate,
  read: measureReading,
};

/** As the launcher starts the program. */
const execArgv = ['--max-semi-space-size=4', '--optimize-for-size'];
const env = { ...process.env, MALLOC_ARENA_MAX: '1' };

/** Each part in a process of its own, so that its memory is its own. */
function inProcess(role: string, dir: string): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const args = ['--role', role, '--dir', dir, '--cves', String(cves)];
    const child = fork(fileURLToPath(import.meta.url), args, { execArgv, env });
    child.once('message', (figures) => resolve(figures as Figures));
    child.once('exit', (code) => code !== 0 && reject(new Error(`${role} ended with ${code}`)));
  });
}

function diskMb(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / 1_048_576;
}

async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-vulndb-'));
  try {
    await pack(join(dir, 'nvd.json.gz'), feedText());
    await pack(join(dir, 'epss.csv.gz'), epssText());
    const imported = await inProcess('import', dir);
    const disk = diskMb(join(dir, 'db'));
    const read = await inProcess('read', dir);
    const updated = await inProcess('update', dir);
    const table = tableOf(imported, disk, read, updated);
    process.stdout.write(table);
    if (flags.write) writeTable(table);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function tableOf(imported: Figures, disk: number, read: Figures, updated: Figures): string {
  const f = (value: number | undefined, digits = 0) => (value ?? Number.NaN).toFixed(digits);
  const rows = [
    ['import of all: time, most memory', `${f(imported['seconds'])} s, ${f(imported['peakMb'])} MB`, ''],
    ['on disk', `${f(disk)} MB`, ''],
    [
      'one record changed: time, most memory',
      `${f(updated['recordSeconds'], 1)} s, ${f(updated['peakMb'])} MB`,
      '',
    ],
    ['new EPSS scores: time', `${f(updated['epssSeconds'], 1)} s`, ''],
    ['open', `${f(read['openMs'], 1)} ms`, '<= 300 ms'],
    ['memory of the process after opening', `${f(read['openMb'])} MB`, '<= 150 MB'],
    ['the same after 3000 products, drawn as the records are', `${f(read['readMb'])} MB`, '<= 150 MB'],
    ['the same after everything below', `${f(read['endMb'])} MB`, '<= 150 MB'],
    [
      'lookup of a product asked before: median, 99 %',
      `${f(read['warmMedian'], 4)} ms, ${f(read['warm99'], 4)} ms`,
      '<= 1 ms',
    ],
    [
      'first lookup, up to 100 CVEs, ranges read: median, 99 %',
      `${f(read['coldMedian'], 3)} ms, ${f(read['cold99'], 2)} ms`,
      '',
    ],
    [
      `lookup of the product with most CVEs (${f(read['largest'])}), ranges read`,
      `${f(read['largestMs'])} ms`,
      '',
    ],
    [
      'KEV and EPSS of a CVE: the first time, 99 %',
      `${f(read['firstRankMs'], 1)} ms, ${f(read['rank99'], 4)} ms`,
      '',
    ],
    ['text of a record', `${f(read['textMs'], 2)} ms`, ''],
  ];
  const day = new Date().toISOString().slice(0, 10);
  const lines = rows.map((row) => `| ${row.join(' | ')} |`);
  return `${day}, ${cpus().length} processors, Node ${process.versions.node}, ${cves.toLocaleString('en')} CVEs.\n\n| | | bar |\n|---|---|---|\n${lines.join('\n')}\n`;
}

function writeTable(table: string): void {
  const file = join(import.meta.dirname, 'README.md');
  const text = readFileSync(file, 'utf8');
  const pattern = /(<!-- vulndb: figures begin -->\n)[\s\S]*?(<!-- vulndb: figures end -->)/;
  writeFileSync(
    file,
    text.replace(pattern, (_, begin: string, end: string) => `${begin}${table}${end}`),
  );
}

if (flags.role === undefined) await run();
else {
  const figures = await roles[flags.role]?.(flags.dir);
  process.send?.(figures ?? {});
  process.disconnect?.();
}
