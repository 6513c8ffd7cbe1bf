/**
 * How right the CVEs are that `cve_matcher` names.
 *
 * On a fleet of real daemons from Debian packages: each claim against the changelog of the installed package, which
 * names what its revisions have mended (`/usr/share/doc`, or the package file), and against a plain reckoning over the
 * raw files of NVD. And on servers of earlier years that the bench plays itself on loopback: with what CISA knows to be
 * exploited first. Needs a folder with `nvd/`, `kev/`, `epss/` and `distro-fixes/` (`--data` or
 * PORTOLAN_REFERENCE_DATA). The fleet needs root and a script as in bench/detect.ts.
 *
 *   npm run bench:cve -- --data FOLDER
 *   npm run bench:cve -- --data FOLDER --fleet SCRIPT
 *   npm run bench:cve -- --data FOLDER --fleet SCRIPT --write     the tables go to bench/README.md as well
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { root } from '../test/program.ts';
import { NvdFiles } from './cve-reckoning.ts';
import { Fleet, portolan, type Truth } from './fleet.ts';
import { type PlayedServer, playOldServers } from './old-servers.ts';
import { type InstalledPackage, installedPackage } from './package-changelog.ts';

const usage =
  'Usage: npm run bench:cve -- --data FOLDER [--fleet SCRIPT] [--only REGEX] [--show] [--write]\n';
const classes = ['certain', 'likely', 'possible'] as const;
type ClaimClass = (typeof classes)[number];

/** What a scan says of a port. */
interface SeenPort {
  /** Version by `vendor:product`. */
  versions: Map<string, string | null>;
  findings: { id: string; kev: boolean; class: ClaimClass; confidence: number }[];
}

interface ScanResult {
  results: {
    host: string;
    ports: {
      port: number;
      protocol: string;
      fingerprints: { cpe: string | null; version: string | null; confidence: number }[];
      vulnerabilities?: { id: string; kev: boolean; cpe: string; confidence: number; plugin: string }[];
    }[];
  }[];
}

const portKey = (ip: string, port: number) => `${ip}:${port}`;

/** A scan tells the confidence alone: what is left of it without the doubt about the product tells the class. */
function classOf(confidence: number, product: number): ClaimClass {
  const worth = confidence / product;
  if (worth > 0.925) return 'certain';
  return worth > 0.6 ? 'likely' : 'possible';
}

function readScan(text: string): Map<string, SeenPort> {
  const seen = new Map<string, SeenPort>();
  for (const { host, ports } of (JSON.parse(text) as ScanResult).results) {
    for (const { port, protocol, fingerprints, vulnerabilities = [] } of ports) {
      if (protocol !== 'tcp') continue;
      const products = new Map(fingerprints.map(({ cpe, confidence }) => [cpe, confidence]));
      const findings = vulnerabilities
        .filter(({ plugin }) => plugin === 'cve_matcher')
        .map(({ id, kev, cpe, confidence }) => ({
          id,
          kev,
          confidence,
          class: classOf(confidence, products.get(cpe) ?? 1),
        }));
      const versions = fingerprints.map(
        ({ cpe, version }) => [cpe?.split(':').slice(3, 5).join(':') ?? '', version] as const,
      );
      seen.set(portKey(host, port), { versions: new Map(versions.toReversed()), findings });
    }
  }
  return seen;
}

/** A place of its own for one state of the data. */
class Place {
  readonly #folder: string;
  readonly options: string[];

  constructor(folder: string, name: string) {
    this.#folder = folder;
    const config = join(folder, 'config.yaml');
    writeFileSync(config, 'modules:\n  cve_matcher:\n    min_confidence: 0\n');
    this.options = ['--config', config, '--workspace-dir', join(folder, name), '--quiet'];
  }

  async import(paths: string[]): Promise<void> {
    await runProgram([portolan, ...this.options, 'vulndb', 'import', ...paths], this.#folder);
  }

  scan(targets: string[], ports: number[]): string[] {
    const list = [...new Set(ports)].sort((a, b) => a - b).join(',');
    const options = ['--ports', list, '--profile', 'deep', '--vuln', '--format', 'json'];
    return [portolan, ...this.options, 'scan', [...new Set(targets)].join(','), ...options];
  }
}

async function runProgram(args: string[], folder: string): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_CONFIG_HOME: folder };
  const options = { env, cwd: folder, maxBuffer: 2 ** 28 };
  return (await promisify(execFile)(process.execPath, args, options)).stdout;
}

// --- the fleet ------------------------------------------------------------------------------------------------

/** A service of the fleet with everything that is known of it. */
interface Judged {
  truth: Truth;
  installed: InstalledPackage;
  seen: SeenPort | undefined;
  /** By the reckoning of the bench. */
  applying: Set<string>;
  /** Of those, what the installed revision has mended. */
  mended: (id: string) => boolean;
}

interface Score {
  applying: number;
  found: number;
  /** Mended, and therefore not reported. */
  dropped: number;
  missed: string[];
  claims: Record<ClaimClass, { all: number; mended: string[] }>;
  /** Claims of a CVE whose ranges do not take in the version, by the reckoning of the bench. */
  foreign: string[];
}

function scoreOf({ truth, seen, applying, mended }: Judged): Score {
  const findings = seen?.findings ?? [];
  const named = new Set(findings.map(({ id }) => id));
  const left = [...applying].filter((id) => !named.has(id));
  const claims = Object.fromEntries(
    classes.map((each) => {
      const ids = findings.filter((finding) => finding.class === each).map(({ id }) => id);
      return [each, { all: ids.length, mended: ids.filter(mended) }];
    }),
  ) as Score['claims'];
  return {
    applying: applying.size,
    found: applying.size - left.length,
    dropped: left.filter(mended).length,
    missed: versionSeen(truth, seen) === null ? [] : left.filter((id) => !mended(id)),
    claims,
    foreign: findings.filter(({ id }) => !applying.has(id)).map(({ id }) => id),
  };
}

function versionSeen(truth: Truth, seen: SeenPort | undefined): string | null {
  const names = truth.cpe23.map((cpe) => cpe.split(':').slice(3, 5).join(':'));
  return names.map((name) => seen?.versions.get(name) ?? null).find((version) => version !== null) ?? null;
}

function fixesOf(file: string): (source: string, id: string) => boolean {
  if (!existsSync(file)) return () => false;
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    packages: { source: string; fixedIn: Record<string, string | null> }[];
  };
  const bySource = new Map(packages.map(({ source, fixedIn }) => [source, fixedIn]));
  // The file is of the same archive as the packages: what it says is fixed, is fixed in what is installed.
  return (source, id) => typeof bySource.get(source)?.[id] === 'string';
}

function fleetTable(judged: Judged[]): string[] {
  const rows = judged.flatMap((each) => {
    const { truth, installed, seen } = each;
    const score = scoreOf(each);
    if (score.applying === 0 && score.foreign.length === 0) return [];
    const claim = (name: ClaimClass) => {
      const { all, mended } = score.claims[name];
      return all === 0 ? '' : `${all} (${mended.length})`;
    };
    const cells = [
      `${truth.host}:${truth.port}`,
      `${installed.source} ${installed.version}`,
      versionSeen(truth, seen) ?? 'not shown',
      score.applying,
      score.found,
      score.dropped,
      ...classes.map(claim),
    ];
    return [`| ${cells.join(' | ')} |`];
  });
  return [
    '| service | installed | version seen | CVEs of the version | named | mended, not named | certain (mended) | likely (mended) | possible (mended) |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ];
}

function fleetTotals(name: string, judged: Judged[]): string {
  const scores = judged.map(scoreOf);
  const sum = (read: (score: Score) => number) => scores.reduce((total, score) => total + read(score), 0);
  const precision = classes.map((each) => {
    const all = sum(({ claims }) => claims[each].all);
    const mended = sum(({ claims }) => claims[each].mended.length);
    return all === 0 ? 'none' : `${all - mended} / ${all} (${Math.round((100 * (all - mended)) / all)} %)`;
  });
  const shown = judged.filter(({ truth, seen }) => versionSeen(truth, seen) !== null).map(scoreOf);
  const right = shown.reduce((total, { found, dropped }) => total + found + dropped, 0);
  const applying = shown.reduce((total, score) => total + score.applying, 0);
  return `| ${name} | ${precision.join(' | ')} | ${right} / ${applying} | ${sum(({ found }) => found)} / ${sum((score) => score.applying)} |`;
}

interface FleetFigures {
  lines: string[];
  missedBars: string[];
}

async function measureFleet(
  script: string,
  only: string,
  data: string,
  show: boolean,
): Promise<FleetFigures> {
  const fleet = new Fleet(script);
  process.once('SIGINT', () => {
    fleet.down();
    process.exit(130);
  });
  try {
    const truths = fleet.up(only).filter(({ proto, version }) => proto === 'tcp' && version !== '');
    const nvd = new NvdFiles(join(data, 'nvd'));
    const isFixed = fixesOf(join(data, 'distro-fixes/debian-12-fixes.json'));
    const known = truths.flatMap((truth) => {
      const installed = installedPackage(truth.package, truth.version);
      if (installed === null) return [];
      const names = truth.cpe23.map((cpe) => cpe.split(':').slice(3, 5).join(':'));
      const applying = new Set(nvd.applying(names, truth.version).keys());
      const mended = (id: string) => installed.mended.has(id) || isFixed(installed.source, id);
      return [{ truth, installed, applying, mended }];
    });
    const place = new Place(fleet.folder, 'workspace');
    const rounds: { name: string; judged: Judged[] }[] = [];
    for (const [name, folders] of [
      ['NVD', ['nvd', 'kev', 'epss']],
      ['NVD and the fixes of Debian', ['distro-fixes']],
    ] as const) {
      await place.import(folders.map((folder) => join(data, folder)));
      const scan = place.scan(
        truths.map(({ ip }) => ip),
        truths.map(({ port }) => port),
      );
      const seen = readScan((await fleet.run([process.execPath, ...scan])).output);
      rounds.push({
        name,
        judged: known.map((each) => ({ ...each, seen: seen.get(portKey(each.truth.ip, each.truth.port)) })),
      });
    }
    if (show) for (const { name, judged } of rounds) showFleet(name, judged);
    return { lines: fleetFigures(rounds), missedBars: rounds.flatMap(barsOfFleet) };
  } finally {
    fleet.down();
  }
}

function fleetFigures(rounds: { name: string; judged: Judged[] }[]): string[] {
  const last = rounds.at(-1);
  return [
    '| data | certain, not mended | likely, not mended | possible, not mended | named or mended, of the CVEs where the version is shown | named, of all |',
    '|---|---|---|---|---|---|',
    ...rounds.map(({ name, judged }) => fleetTotals(name, judged)),
    '',
    ...(last ? [`With ${last.name}:`, '', ...fleetTable(last.judged)] : []),
  ];
}

function showFleet(name: string, judged: Judged[]): void {
  for (const each of judged) {
    const { missed, foreign, claims } = scoreOf(each);
    const place = `${name} ${each.truth.host}:${each.truth.port}`;
    if (missed.length > 0) console.log(`${place} missed: ${missed.join(' ')}`);
    if (foreign.length > 0) console.log(`${place} not by the reckoning: ${foreign.join(' ')}`);
    for (const level of classes) {
      const { mended } = claims[level];
      if (mended.length > 0) console.log(`${place} ${level}, mended: ${mended.join(' ')}`);
    }
  }
}

function barsOfFleet({ name, judged }: { name: string; judged: Judged[] }): string[] {
  return judged.flatMap((each) => {
    const { claims, missed } = scoreOf(each);
    const { host, port } = each.truth;
    const wrong = claims.certain.mended.map(
      (id) => `${name}: ${id} is mended and called certain on ${host}:${port}`,
    );
    return [...wrong, ...missed.map((id) => `${name}: ${id} is missed on ${host}:${port}`)];
  });
}

// --- servers of earlier years ---------------------------------------------------------------------------------

interface OldJudged {
  server: PlayedServer;
  seen: SeenPort | undefined;
  /** By the reckoning of the bench. */
  applying: Set<string>;
  /** What is exploited among all that applies. */
  exploited: Set<string>;
}

async function measureOld(data: string): Promise<{ name: string; judged: OldJudged[] }[]> {
  const { played, end } = await playOldServers();
  const folder = mkdtempSync(join(tmpdir(), 'portolan-cve-'));
  try {
    const nvd = new NvdFiles(join(data, 'nvd'));
    const listed = exploitedIn(join(data, 'kev/known_exploited_vulnerabilities.json'));
    const place = new Place(folder, 'workspace');
    const rounds: { name: string; judged: OldJudged[] }[] = [];
    for (const [name, folders] of [
      ['builtin catalogue alone', []],
      ['with NVD', ['nvd', 'kev', 'epss']],
    ] as const) {
      if (folders.length > 0) await place.import(folders.map((each) => join(data, each)));
      const scan = place.scan(
        played.map(({ ip }) => ip),
        played.map(({ port }) => port),
      );
      const seen = readScan(await runProgram(scan, folder));
      rounds.push({
        name,
        judged: played.map((server) => {
          const products: [string, string][] = [[server.cpe, server.version], ...(server.others ?? [])];
          const applying =
            folders.length === 0
              ? new Set<string>()
              : new Set(products.flatMap(([cpe, version]) => [...nvd.applying([cpe], version).keys()]));
          const exploited = new Set([...server.exploited, ...[...applying].filter((id) => listed.has(id))]);
          return { server, seen: seen.get(portKey(server.ip, server.port)), applying, exploited };
        }),
      });
    }
    return rounds;
  } finally {
    end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function exploitedIn(file: string): Set<string> {
  const { vulnerabilities } = JSON.parse(readFileSync(file, 'utf8')) as {
    vulnerabilities: { cveID: string }[];
  };
  return new Set(vulnerabilities.map(({ cveID }) => cveID));
}

/** How many of the first findings of a port are what is exploited. */
function exploitedOnTop({ seen, exploited }: OldJudged): number {
  const first = (seen?.findings ?? []).findIndex(({ kev }) => !kev);
  const top = (seen?.findings ?? []).slice(0, first < 0 ? undefined : first);
  return top.filter(({ id }) => exploited.has(id)).length;
}

function missedOld({ seen, applying, exploited }: OldJudged): string[] {
  const named = new Set(seen?.findings.map(({ id }) => id));
  return [...new Set([...applying, ...exploited])].filter((id) => !named.has(id));
}

function oldTable(rounds: { name: string; judged: OldJudged[] }[]): string[] {
  const [builtin, imported] = rounds;
  const rows = (imported?.judged ?? []).map((each, at) => {
    const { server, seen, applying, exploited } = each;
    const alone = builtin?.judged[at];
    const missed = missedOld(each).filter((id) => applying.has(id)).length;
    const sure = seen?.findings.filter((finding) => finding.class !== 'possible').length ?? 0;
    const cells = [
      `${server.product} ${server.version}`,
      seen?.versions.get(server.cpe) ?? 'not seen',
      alone
        ? `${exploitedOnTop(alone)} / ${alone.exploited.size} of ${alone.seen?.findings.length ?? 0}`
        : '',
      `${exploitedOnTop(each)} / ${exploited.size}`,
      `${applying.size - missed} / ${applying.size}`,
      sure,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| server | version seen | exploited ones on top, builtin catalogue alone, of all it names | exploited ones on top, with NVD | named, of the CVEs of NVD | certain or likely |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
}

function barsOfOld({ name, judged }: { name: string; judged: OldJudged[] }): string[] {
  return judged.flatMap((each) => {
    const { server, exploited } = each;
    const missed = missedOld(each).map(
      (id) => `${name}: ${server.product} ${server.version}: ${id} is missed`,
    );
    if (exploitedOnTop(each) < exploited.size)
      missed.push(`${name}: ${server.product} ${server.version}: not on top`);
    return missed;
  });
}

// --- all of it ------------------------------------------------------------------------------------------------

function putIntoReadme(part: string, figures: string): void {
  const file = join(root, 'bench/README.md');
  const marks = { from: `<!-- ${part}: figures begin -->`, to: `<!-- ${part}: figures end -->` };
  const [before, rest = ''] = readFileSync(file, 'utf8').split(marks.from);
  const after = rest.split(marks.to)[1];
  if (after === undefined) throw new Error('bench/README.md has no marks for these figures');
  writeFileSync(file, `${before}${marks.from}\n${figures}\n${marks.to}${after}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string', default: process.env['PORTOLAN_REFERENCE_DATA'] ?? '' },
      fleet: { type: 'string' },
      only: { type: 'string', default: '.' },
      show: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  if (values.data === '' || (values.fleet !== undefined && process.getuid?.() !== 0)) {
    process.stderr.write(`${usage}The fleet needs root.\n`);
    process.exitCode = 2;
    return;
  }
  const made = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} shared cores, Node ${process.versions.node}.`;
  const missed: string[] = [];
  const report = (part: string, lines: string[]) => {
    const figures = `${made}\n\n${lines.join('\n')}`;
    console.log(`${figures}\n`);
    if (values.write) putIntoReadme(part, figures);
  };
  const old = await measureOld(values.data);
  missed.push(...old.flatMap(barsOfOld));
  report('cve-old', oldTable(old));
  if (values.fleet === undefined) {
    console.log(
      'No fleet: --fleet SCRIPT names the script that builds it; bench/detect.ts says what it must do.',
    );
  } else {
    const figures = await measureFleet(values.fleet, values.only, values.data, values.show);
    missed.push(...figures.missedBars);
    report('cve-fleet', figures.lines);
  }
  console.log(missed.length > 0 ? `Bars missed:\n  ${missed.join('\n  ')}` : 'Every bar met');
  if (missed.length > 0) process.exitCode = 1;
}

await main();
