/**
 * Portolan beside `nmap -sV` on a fleet of real daemons whose products and versions are known. Needs root, Linux, nmap
 * and a script that builds the fleet in network namespaces without a way out:
 *
 *   FLEET up --truth FILE    start it, write what is true
 *   FLEET exec COMMAND...    run a command on the scanner's host
 *   FLEET down
 *
 *   npm run bench:detect -- --fleet FILE
 *   npm run bench:detect -- --fleet FILE --only '^(ssh|web)' --no-nmap
 *   npm run bench:detect -- --fleet FILE --write     the tables go to bench/README.md as well
 *   npm run bench:detect -- --stability 30           the public fleet (test/lab) beside stress-ng: 30 equal rounds
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../test/program.ts';
import { Fleet, LabFleet, portolan, type Truth } from './fleet.ts';
import { benchStability } from './stability.ts';

const usage =
  'Usage: npm run bench:detect -- --fleet FILE [--only REGEX] [--profile NAME] [--no-nmap] [--show] [--write]\n' +
  '       npm run bench:detect -- --stability ROUNDS [--profile NAME]\n';

/** What a scanner says of one port. */
interface Claim {
  service: string;
  product: string | null;
  version: string | null;
  cpe: string | null;
  /** 0..1 */
  confidence: number;
}

interface Run {
  name: string;
  seconds: number;
  claims: Map<string, Claim>;
}

type Verdict = 'right' | 'part' | 'wrong' | 'missed';

interface Judged {
  truth: Truth;
  claim: Claim | undefined;
  product: Verdict;
  /** The product is right by the name of the service only. */
  byService: boolean;
  version: Verdict;
  /** Of a right product: the CPE name is well formed and names vendor and product of the truth. */
  cpe: boolean;
}

const key = (ip: string, port: number): string => `${ip}:${port}`;

async function runPortolan(fleet: Fleet, profile: string, targets: string[], ports: string): Promise<Run> {
  const place = ['--workspace-dir', join(fleet.folder, 'workspace')];
  const options = ['--profile', profile, '--ports', ports, '--format', 'json', '--quiet', ...place];
  const { seconds, output } = await fleet.run([
    process.execPath,
    portolan,
    'scan',
    targets.join(','),
    ...options,
  ]);
  const { results } = JSON.parse(output) as {
    results: {
      host: string;
      ports: {
        port: number;
        protocol: string;
        state: string;
        service: { name: string; product: string | null; version: string | null } | null;
        fingerprints: { product: string | null; cpe: string | null; confidence: number }[];
      }[];
    }[];
  };
  const claims = new Map<string, Claim>();
  for (const { host, ports: seen } of results) {
    for (const { port, protocol, state, service, fingerprints } of seen) {
      if (protocol !== 'tcp' || state !== 'open' || !service) continue;
      claims.set(key(host, port), {
        service: service.name,
        product: service.product ?? null,
        version: service.version ?? null,
        cpe: fingerprints[0]?.cpe ?? null,
        confidence: fingerprints[0]?.confidence ?? 0,
      });
    }
  }
  return { name: `portolan --profile ${profile}`, seconds, claims };
}

async function runNmap(fleet: Fleet, targets: string[], ports: string): Promise<Run> {
  const file = join(fleet.folder, 'nmap.xml');
  const { seconds } = await fleet.run(['nmap', '-n', '-sV', '-p', ports, '-oX', file, ...targets]);
  return { name: 'nmap -sV', seconds, claims: readNmap(readFileSync(file, 'utf8')) };
}

/** Reads `-oX`. */
function readNmap(xml: string): Map<string, Claim> {
  const claims = new Map<string, Claim>();
  for (const [, host = ''] of xml.matchAll(/<host\b(.*?)<\/host>/gs)) {
    const ip = /<address addr="([\d.]+)" addrtype="ipv4"/.exec(host)?.[1] ?? '';
    for (const [, port = '', rest = ''] of host.matchAll(
      /<port protocol="tcp" portid="(\d+)">(.*?)<\/port>/gs,
    )) {
      if (!rest.includes('state="open"')) continue;
      const service = /<service ([^>]*)>/.exec(rest)?.[1] ?? '';
      const field = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(service)?.[1] ?? null;
      claims.set(key(ip, Number(port)), {
        service: `${field('tunnel') ?? ''} ${field('name') ?? ''}`.trim(),
        product: field('product'),
        version: field('version'),
        cpe: /<cpe>([^<]*)<\/cpe>/.exec(rest)?.[1] ?? null,
        confidence: Number(field('conf') ?? 0) / 10,
      });
    }
  }
  return claims;
}

function judge(truth: Truth, claim: Claim | undefined): Judged {
  const right = new RegExp(truth.productRe, 'i');
  const named = claim?.product ?? null;
  const byName = named !== null && right.test(named);
  const byService = !byName && named === null && claim !== undefined && right.test(claim.service);
  const product: Verdict = byName || byService ? 'right' : named !== null ? 'wrong' : 'missed';
  return {
    truth,
    claim,
    product,
    byService,
    version: product === 'right' ? judgeVersion(truth, claim?.version ?? null) : 'missed',
    cpe: product === 'right' && judgeCpe(truth, claim?.cpe ?? null),
  };
}

/** What a distribution appends does not count; the beginning of a version is a part of it. */
function judgeVersion(truth: Truth, claimed: string | null): Verdict {
  const plain = claimed?.split(/[\s-]/, 1)[0] ?? '';
  if (plain === '') return 'missed';
  if (plain === truth.version.split(/[\s-]/, 1)[0]) return 'right';
  return truth.version.startsWith(`${plain}.`) ? 'part' : 'wrong';
}

/** Well formed by NIST IR 7695 section 6.2.3 (or the older URI of nmap), and of a vendor and product that is meant. */
function judgeCpe(truth: Truth, cpe: string | null): boolean {
  if (cpe === null) return false;
  const wellFormed = /^cpe:2\.3:[aoh](?::(?:\\[!-/:-@[-`{-~]|[\w.*?-])+){10}$/.test(cpe);
  if (!wellFormed && !/^cpe:\/[aoh]:/.test(cpe)) return false;
  const [vendor, product] = cpe.replace('cpe:2.3:', 'cpe:/').split(':').slice(2, 4);
  const meant = truth.cpe23.map((name) => name.split(':').slice(3, 5).join(':'));
  return meant.length === 0 || meant.includes(`${vendor}:${product}`);
}

interface Score {
  products: number;
  productsByService: number;
  versions: number;
  exposedVersions: number;
  exposed: number;
  wrong: number;
  wrongSure: number;
  cpes: number;
  named: number;
}

function scoreOf(judged: readonly Judged[]): Score {
  const count = (test: (each: Judged) => boolean) => judged.filter(test).length;
  const isExposed = ({ truth }: Judged) => truth.versionExposed === 'yes' && truth.version !== '';
  return {
    products: count(({ product }) => product === 'right'),
    productsByService: count(({ byService }) => byService),
    versions: count(({ version }) => version === 'right'),
    exposedVersions: count((each) => isExposed(each) && each.version === 'right'),
    exposed: count(isExposed),
    wrong: count(({ product }) => product === 'wrong'),
    wrongSure: count(({ product, claim }) => product === 'wrong' && (claim?.confidence ?? 0) >= 0.8),
    cpes: count(({ cpe }) => cpe),
    named: count(({ product, byService }) => product === 'right' && !byService),
  };
}

/** Why a product or version is not right, in the words of what was seen. */
function causeOf({ truth, claim, product, version }: Judged): string | null {
  const seen = claim
    ? `${claim.service} / ${claim.product ?? 'no product'} ${claim.version ?? ''}`.trim()
    : 'port not seen';
  if (product === 'wrong') return `wrong product (${claim?.confidence}): ${seen}`;
  if (product === 'missed') return `no product: ${seen}`;
  if (version === 'wrong') return `wrong version: ${seen}`;
  if (version === 'part') return `a part of the version: ${seen}`;
  if (version !== 'missed') return null;
  if (truth.versionExposed === 'no') return 'no version: not readable from outside';
  return truth.versionExposed === 'indirect'
    ? 'no version: only in a deeper exchange'
    : `no version: ${seen}`;
}

function tables(runs: readonly { run: Run; judged: Judged[] }[]): string {
  const rows = runs.map(({ run, judged }) => {
    const score = scoreOf(judged);
    const share = score.named === 0 ? 0 : Math.round((100 * score.cpes) / score.named);
    return (
      `| ${run.name} | ${score.products} (${score.productsByService} by the service's name) | ${score.wrong} ` +
      `| ${score.wrongSure} | ${score.versions} | ${score.exposedVersions} / ${score.exposed} ` +
      `| ${score.cpes} (${share} %) | ${run.seconds.toFixed(1)} s |`
    );
  });
  const first = runs[0];
  const misses = (first?.judged ?? []).flatMap((each) => {
    const cause = causeOf(each);
    return cause === null
      ? []
      : [
          `| ${each.truth.host}:${each.truth.port} | ${each.truth.product} ${each.truth.version} | ${cause} |`,
        ];
  });
  const total = first?.judged.length ?? 0;
  return [
    `| of ${total} TCP services | products right | wrong | wrong at >= 0.8 | versions right | plainly exposed ones | CPE of the named | time |`,
    '|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
    '| not right | truth | seen |',
    '|---|---|---|',
    ...misses,
  ].join('\n');
}

function bars(own: { run: Run; judged: Judged[] }, nmap: Run | null): string[] {
  const score = scoreOf(own.judged);
  const missed: string[] = [];
  const check = (what: string, met: boolean) => {
    if (!met) missed.push(what);
  };
  check('56 products', score.products >= 56);
  check('45 versions', score.versions >= 45);
  check('every plainly exposed version', score.exposedVersions === score.exposed);
  check('no wrong product at 0.8', score.wrongSure === 0);
  check('CPE for 90 %', score.cpes >= 0.9 * score.named);
  if (nmap) check('0.3 of the time of nmap', own.run.seconds <= 0.3 * nmap.seconds);
  return missed;
}

const marks = { from: '<!-- detect: figures begin -->', to: '<!-- detect: figures end -->' };

function putIntoReadme(figures: string): void {
  const file = join(root, 'bench/README.md');
  const readme = readFileSync(file, 'utf8');
  const [before, rest = ''] = readme.split(marks.from);
  const after = rest.split(marks.to)[1];
  if (after === undefined) throw new Error('bench/README.md has no marks for these figures');
  writeFileSync(file, `${before}${marks.from}\n${figures}\n${marks.to}${after}`);
}

function show(judged: readonly Judged[]): void {
  for (const { truth, claim, product, version } of judged) {
    const said = claim ? `${claim.service} | ${claim.product} | ${claim.version} | ${claim.cpe}` : 'nothing';
    console.log(
      `${truth.host}:${truth.port} ${truth.product} ${truth.version}: ${product}/${version}: ${said}`,
    );
  }
}

async function stability(rounds: number, profile: string): Promise<void> {
  const fleet = new LabFleet();
  process.once('SIGINT', () => {
    fleet.down();
    process.exit(130);
  });
  try {
    if (!(await benchStability(fleet, { rounds, profile }))) process.exitCode = 1;
  } finally {
    fleet.down();
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      fleet: { type: 'string' },
      only: { type: 'string', default: '.' },
      profile: { type: 'string', default: 'deep' },
      'no-nmap': { type: 'boolean', default: false },
      show: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      stability: { type: 'string' },
    },
  });
  const rounds = Number(values.stability);
  if (values.stability !== undefined && rounds >= 1 && process.getuid?.() === 0) {
    await stability(rounds, values.profile);
    return;
  }
  if (values.fleet === undefined || process.getuid?.() !== 0) {
    process.stderr.write(`${usage}It needs root.\n`);
    process.exitCode = 2;
    return;
  }
  const fleet = new Fleet(values.fleet);
  process.once('SIGINT', () => {
    fleet.down();
    process.exit(130);
  });
  try {
    const truths = fleet.up(values.only).filter(({ proto }) => proto === 'tcp');
    const targets = [...new Set(truths.map(({ ip }) => ip))];
    const ports = [...new Set(truths.map(({ port }) => port))].sort((a, b) => a - b).join(',');
    const own = await runPortolan(fleet, values.profile, targets, ports);
    const nmap = values['no-nmap'] ? null : await runNmap(fleet, targets, ports);
    const runs = [own, ...(nmap ? [nmap] : [])].map((run) => ({
      run,
      judged: truths.map((truth) => judge(truth, run.claims.get(key(truth.ip, truth.port)))),
    }));
    if (values.show) for (const { judged } of runs) show(judged);
    const date = new Date().toISOString().slice(0, 10);
    const figures = `${date}, ${cpus().length} shared cores, Node ${process.versions.node}.\n\n${tables(runs)}`;
    console.log(figures);
    const missed = runs[0] ? bars(runs[0], nmap) : [];
    console.log(missed.length > 0 ? `\nBars missed: ${missed.join('; ')}` : '\nEvery bar met');
    if (values.write) putIntoReadme(figures);
  } finally {
    fleet.down();
  }
}

await main();
