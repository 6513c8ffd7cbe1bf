import { once } from 'node:events';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { ExecContext } from '../../engine/module.ts';
import type { OptionDefs } from '../../engine/options.ts';
import type { Paper, ReportFacts } from '../../report/report-facts.ts';
import type { ReportSource } from '../../report/report-source.ts';
import type { ReportTemplate } from '../../report/template/report-template.ts';
import { type ResultHead, resultHead } from '../../workspace/render/result-head.ts';

/** Options of every reporter that writes one file. */
export const reporterOptions = {
  output: {
    Type: 'string',
    Description: 'Output of the report: a file in the reports folder of the scan, or standard output.',
    Default: 'workspace',
    Enum: ['workspace', 'stdout'],
  },
  path: {
    Type: 'string',
    Description: 'File name below the reports folder; empty = default name of the format.',
    Default: '',
  },
} as const satisfies OptionDefs;

type ReporterContext = Pick<ExecContext<typeof reporterOptions>, 'options' | 'results' | 'signal'>;

/** Options of every report for people. */
export const reportOptions = {
  ...reporterOptions,
  title: { Type: 'string', Description: 'Title of the report; empty = the name of the scan.', Default: '' },
  template: {
    Type: 'string',
    Description: 'Template of the report, a folder in config/templates of the workspace; empty = none.',
    Default: '',
  },
} as const satisfies OptionDefs;

/** Facts about the scan in the head of a file for programs. */
export async function reportHead({ results }: Pick<ReporterContext, 'results'>): Promise<ResultHead> {
  const summary = await results.summary();
  return resultHead(summary, { targets: results.targets, warnings: results.warnings() });
}

/** What a renderer of a report for people gets. */
export async function reportSource(
  ctx: Pick<ReporterContext, 'results'>,
  { title, template, paper = 'a4' }: { title: string; template: string; paper?: Paper },
): Promise<ReportSource> {
  const { results } = ctx;
  const look = await templateOf(results.templatesDir, template);
  const facts = await factsOf(ctx, title);
  const options = { template: look, paper, changes: null, madeAt: new Date().toISOString() };
  return { facts, options, rows: () => results.rows() };
}

async function templateOf(dir: string | null, name: string): Promise<ReportTemplate | null> {
  if (name === '') return null;
  if (dir === null) throw new Error(`there is no folder for the template "${name}"`);
  const { readTemplate } = await import('../../report/template/read-template.ts');
  return await readTemplate(dir, name);
}

async function factsOf(ctx: Pick<ReporterContext, 'results'>, title: string): Promise<ReportFacts> {
  const { results } = ctx;
  const head = await reportHead(ctx);
  return {
    ...head,
    title: title || (results.request?.name ?? null),
    failure: results.failure(),
    canceledBy: null,
    evaluated: results.evaluated,
    startedAt: results.startedAt,
    completedAt: head.timestamp,
    request: results.request,
    stages: results.stages(),
  };
}

/** Writes a report to the destination of its options; the file appears when it is complete. */
export async function writeReport(
  ctx: ReporterContext,
  name: string,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  if (ctx.options.output === 'stdout') return writeToStdout(chunks);
  if (ctx.results.reportsDir === null) return;
  await writeToFile(reportPath(ctx.results.reportsDir, ctx.options.path || name), chunks);
}

/** @throws Error for a path that leaves the reports folder */
function reportPath(dir: string, name: string): string {
  const path = resolve(join(dir, name));
  if (!path.startsWith(resolve(dir) + sep)) throw new Error(`the path "${name}" leaves the reports folder`);
  return path;
}

async function writeToFile(path: string, chunks: AsyncIterable<string | Uint8Array>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.part`;
  try {
    await writeDraft(draft, chunks);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function writeDraft(path: string, chunks: AsyncIterable<string | Uint8Array>): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    // `write` may write a part of the bytes only.
    for await (const chunk of chunks) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeToStdout(chunks: AsyncIterable<string | Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
  }
}
