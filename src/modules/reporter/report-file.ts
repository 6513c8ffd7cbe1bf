import { once } from 'node:events';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { ExecContext } from '../../engine/module.ts';
import type { OptionDefs } from '../../engine/options.ts';
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

/** Facts about the scan in the head of a report. */
export async function reportHead({ results }: Pick<ReporterContext, 'results'>): Promise<ResultHead> {
  const summary = await results.summary();
  return resultHead(summary, { targets: results.targets, warnings: results.warnings() });
}

/** Writes a report to the destination of its options; the file appears when it is complete. */
export async function writeReport(
  ctx: ReporterContext,
  name: string,
  chunks: AsyncIterable<string>,
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

async function writeToFile(path: string, chunks: AsyncIterable<string>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.part`;
  const file = await open(draft, 'w', 0o600);
  try {
    for await (const chunk of chunks) await file.write(chunk);
    await file.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

async function writeToStdout(chunks: AsyncIterable<string>): Promise<void> {
  for await (const chunk of chunks) {
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
  }
}
