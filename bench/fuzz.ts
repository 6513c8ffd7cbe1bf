/**
 * Hostile answers for every reader of what others send: true answers, changed at random (bits, lengths that lie, cuts,
 * splices, repeats, great numbers, noise), in threads that are watched from outside. The same seed makes the same answers.
 *
 *     npm run bench:fuzz -- [--answers N] [--seed N] [--threads N] [--only NAME]... [--save FOLDER] [--write]
 *     npm run bench:fuzz -- --only NAME --replay FILE
 *
 * Ends with 1 when a reader threw what it must not, or needed more than 100 ms for one answer. Such answers are saved.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CampaignReport, type Finding, longestMs, runCampaign } from '../test/fuzz/campaign.ts';
import { random } from '../test/fuzz/mutate.ts';
import { parserNamed, parsers } from '../test/fuzz/parsers.ts';

const { values } = parseArgs({
  options: {
    answers: { type: 'string', default: '10000000' },
    seed: { type: 'string' },
    threads: { type: 'string', default: String(availableParallelism()) },
    only: { type: 'string', multiple: true },
    save: { type: 'string' },
    replay: { type: 'string' },
    list: { type: 'boolean' },
    write: { type: 'boolean' },
  },
});

if (values.list) for (const { name, covers } of parsers) console.log(`${name}: ${covers.join(', ')}`);
else if (values.replay !== undefined) await replay(values.replay, values.only?.[0] ?? '');
else await campaign();

async function campaign(): Promise<void> {
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const answers = Number(values.answers);
  const threads = Number(values.threads);
  console.log(`seed ${seed}, ${answers} answers, ${threads} threads`);
  const begun = performance.now();
  let told = begun;
  const report = await runCampaign({
    seed,
    answers,
    threads,
    timed: true,
    ...(values.only ? { only: values.only } : {}),
    onProgress: (done, all) => {
      if (performance.now() - told < 10_000) return;
      told = performance.now();
      process.stderr.write(`${done} of ${all} after ${((told - begun) / 1000).toFixed(0)} s\n`);
    },
  });
  const seconds = (performance.now() - begun) / 1000;
  const figures = figuresOf(report, { seed, threads, seconds });
  console.log(`\n${figures}`);
  if (values.write) writeFigures(figures);
  if (report.findings.length === 0) return;
  save(report.findings, values.save ?? join(tmpdir(), `portolan-fuzz-${seed}`));
  process.exitCode = 1;
}

function figuresOf(
  { byParser, noticed }: CampaignReport,
  run: { seed: number; threads: number; seconds: number },
): string {
  const tallies = [...byParser.values()];
  const sum = (name: 'answers' | 'refused' | 'faults' | 'slow') =>
    tallies.reduce((total, tally) => total + tally[name], 0);
  const slowest = Math.max(...tallies.map((tally) => tally.slowest));
  const row = (cells: (string | number)[]) =>
    `| ${cells.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)).join(' | ')} |`;
  return [
    `${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} shared processors, Node ${process.versions.node}: ` +
      `seed ${run.seed}, ${run.threads} threads, ${run.seconds.toFixed(0)} s. Runs that the watch saw longer than ` +
      `${longestMs} ms on the busy machine: ${noticed}; of these as long when read again: ${sum('slow')}.`,
    '',
    row(['reader', 'answers', 'refused', 'uncaught errors', `> ${longestMs} ms`, 'slowest, ms']),
    '|---|---|---|---|---|---|',
    ...[...byParser].map(([name, tally]) =>
      row([name, tally.answers, tally.refused, tally.faults, tally.slow, tally.slowest.toFixed(1)]),
    ),
    row(['**all**', sum('answers'), sum('refused'), sum('faults'), sum('slow'), slowest.toFixed(1)]),
  ].join('\n');
}

function writeFigures(figures: string): void {
  const file = join(import.meta.dirname, 'README.md');
  const text = readFileSync(file, 'utf8');
  const marks = /(<!-- fuzz: figures begin -->\n)[^]*?(<!-- fuzz: figures end -->)/;
  if (!marks.test(text)) throw new Error('bench/README.md has no place for the figures');
  writeFileSync(
    file,
    text.replace(marks, (_, begin: string, end: string) => `${begin}${figures}\n${end}`),
  );
}

function save(findings: readonly Finding[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { parser, batch, at, reason, input } of findings) {
    const file = join(folder, `${parser.replaceAll(' ', '-')}-${batch}-${at}.bin`);
    writeFileSync(file, Buffer.from(input, 'base64'));
    console.log(`\n${parser}, batch ${batch}, answer ${at}: ${reason}\n  saved as ${file}`);
  }
}

/** Reads one saved answer with every choice of what is beside the bytes that a few numbers make. */
async function replay(file: string, name: string): Promise<void> {
  const parser = parserNamed(name);
  const bytes = readFileSync(file);
  const times: number[] = [];
  for (let seed = 0; seed < 64; seed++) {
    const begun = performance.now();
    try {
      await parser.read(Buffer.from(bytes), random(seed));
    } catch (error) {
      if (!parser.refuses?.(error)) throw error;
    }
    times.push(performance.now() - begun);
  }
  console.log(`${bytes.length} bytes, 64 runs: slowest ${Math.max(...times).toFixed(1)} ms`);
}
