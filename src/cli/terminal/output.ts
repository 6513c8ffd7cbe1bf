import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { Option } from 'commander';
import { PortolanError } from '../../domain/errors.ts';
import type { Paper } from '../../report/report-facts.ts';
import { usage } from './failure.ts';

/** Formats of results; `tar.gz` is for `workspace export` alone. */
export const outputFormats = [
  'text',
  'json',
  'jsonl',
  'csv',
  'yaml',
  'html',
  'pdf',
  'markdown',
  'nmap',
  'sarif',
  'hostport',
  'list',
  'grepable',
] as const;
export type OutputFormat = (typeof outputFormats)[number];
export type FileFormat = OutputFormat | 'tar.gz';

/** Formats that a terminal cannot show. */
const binaryFormats: readonly string[] = ['pdf', 'tar.gz'];
const bareWords = ['json', 'jsonl', 'csv', 'text', 'yaml'];
const extensions: Record<string, string> = {
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.csv': 'csv',
  '.txt': 'text',
  '.nmap': 'text',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.html': 'html',
  '.htm': 'html',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.xml': 'nmap',
  '.gnmap': 'grepable',
  '.sarif': 'sarif',
  '.pdf': 'pdf',
  '.tgz': 'tar.gz',
  '.tar.gz': 'tar.gz',
};

/** `--template` of reports. */
export function templateOption(): Option {
  return new Option(
    '--template <name>',
    'summary: two pages for who decides; or a folder in config/templates of the workspace',
  );
}

const papers = ['a4', 'letter'] as const satisfies readonly Paper[];

/** `--paper` of reports. */
export function paperOption(): Option {
  return new Option('--paper <size>', 'size of pages: a4 (default), letter').choices(papers);
}

/**
 * Destination and format of results: `-o` names a file, except that a bare format name is the format; without `--format`
 * the ending of the file decides, and a file without one gets text. `file: null` is stdout.
 * @throws PortolanError `usage` for an unknown ending or format
 */
export function chooseOutput(flags: OutputFlags): { file: string | null; format: OutputFormat } {
  const { file, format } = chooseFile(flags, outputFormats);
  if (format === 'tar.gz') throw usage('format tar.gz is only for workspace export');
  return { file, format };
}

interface OutputFlags {
  output?: string | undefined;
  format?: string | undefined;
}

/** The same, including tar.gz. @param offered formats that a rejection names */
export function chooseFile(
  flags: OutputFlags,
  offered: readonly FileFormat[] = [...outputFormats, 'tar.gz'],
): { file: string | null; format: FileFormat } {
  const word = flags.output !== undefined && bareWords.includes(flags.output);
  const file = word || flags.output === '-' ? null : (flags.output ?? null);
  if (file === '') throw usage('--output needs a file name');
  const named = flags.format ?? (word ? flags.output : undefined);
  const format = named ?? (file === null ? 'text' : formatOfEnding(file, offered));
  return { file, format: checkFormat(format) };
}

/** Text for a file without an ending. @throws PortolanError `usage` for an unknown ending */
function formatOfEnding(file: string, offered: readonly string[]): string {
  const ending = extensionOf(file);
  if (ending === '') return 'text';
  if (Object.hasOwn(extensions, ending)) return extensions[ending] as string;
  const known = Object.keys(extensions).filter((name) => offered.includes(extensions[name] as string));
  throw usage(`unknown ending "${ending}" of ${file} (${known.join(', ')}); with --format it may be any`);
}

function extensionOf(file: string): string {
  return /\.tar\.gz$/i.test(file) ? '.tar.gz' : extname(file).toLowerCase();
}

function checkFormat(format: string): FileFormat {
  const known = [...outputFormats, 'tar.gz' as const].find((candidate) => candidate === format);
  if (known) return known;
  throw usage(`unknown format "${format}" (${outputFormats.join(', ')})`);
}

/** @throws PortolanError `usage` for bytes that would go to a terminal */
export function rejectBinary(file: string | null, format: FileFormat): void {
  if (file !== null || !process.stdout.isTTY || !binaryFormats.includes(format)) return;
  throw usage(`not writing ${format} to a terminal: use --output, or redirect stdout`);
}

/**
 * Checks before the work starts that results can be written to a file afterwards.
 * @throws PortolanError when its directory is missing or not writable, or the file is a directory
 */
export async function checkOutputFile(file: string): Promise<void> {
  const folder = dirname(resolve(file));
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory())
    throw new PortolanError('not_found', `cannot write ${file}: no directory ${folder}`);
  const target = await stat(file).catch(() => null);
  if (target?.isDirectory()) throw new PortolanError('conflict', `cannot write ${file}: is a directory`);
  // A device or pipe is written in place; its directory (/dev) need not be writable.
  if (target && !target.isFile()) return;
  await access(folder, constants.W_OK).catch(() => {
    throw new PortolanError('conflict', `cannot write ${file}: directory ${folder} is not writable`);
  });
}

/** Chunks of a result: text, or the bytes of an archive. */
export type Pieces = AsyncIterable<string | Uint8Array>;

export async function* oneText(text: string): AsyncGenerator<string> {
  yield text;
}

/** Writes a result to stdout, or atomically to a file (mode 0600). */
export async function writeResult(file: string | null, chunks: Pieces): Promise<void> {
  if (file === null) await writeToStdout(chunks);
  else await writeToFile(file, chunks);
}

async function writeToStdout(chunks: Pieces): Promise<void> {
  for await (const chunk of chunks) {
    if (!process.stdout.writable) return;
    if (!process.stdout.write(chunk)) await drainOrClose(process.stdout);
  }
}

/** Resolves when a stream drains or closes; `watchStdout` handles its errors. */
function drainOrClose(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const events = ['drain', 'close', 'error'];
    const done = () => {
      for (const event of events) stream.off(event, done);
      resolve();
    };
    for (const event of events) stream.on(event, done);
  });
}

async function writeToFile(file: string, chunks: Pieces): Promise<void> {
  await checkOutputFile(file);
  const target = await realpath(file).catch(() => resolve(file));
  if (await isSpecial(target)) return writeInPlace(target, chunks);
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const handle = await open(temporary, 'wx', 0o600);
    await writeAndClose(handle, chunks, true);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw writeFailure(file, error);
  }
}

/** Whether a path is a device or pipe, which a file must not replace. */
async function isSpecial(target: string): Promise<boolean> {
  const found = await lstat(target).catch(() => null);
  return found !== null && !found.isFile();
}

async function writeInPlace(target: string, chunks: Pieces): Promise<void> {
  try {
    await writeAndClose(await open(target, 'w'), chunks, false);
  } catch (error) {
    throw writeFailure(target, error);
  }
}

async function writeAndClose(handle: FileHandle, chunks: Pieces, sync: boolean): Promise<void> {
  try {
    for await (const chunk of chunks) await handle.writeFile(chunk);
    if (sync) await handle.sync();
  } finally {
    await handle.close();
  }
}

function writeFailure(file: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (error instanceof PortolanError || code === undefined) return error;
  if (code === 'ENOSPC')
    return new PortolanError('insufficient_storage', `cannot write ${file}: the disk is full`);
  return new PortolanError('conflict', `cannot write ${file}: ${code}`);
}

/**
 * A reader that closes the pipe early (`| head`) is not an error; every other failure to write to stdout (a full disk
 * behind a redirection) is.
 */
export function watchStdout(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`portolan: cannot write to stdout: ${error.code ?? error.message}\n`);
    process.exit(1);
  });
  process.stderr.on('error', () => undefined);
}

/**
 * Exits at once after the command is done: a regular exit first tears down the heap, which takes longer. With pending
 * output it exits regularly.
 */
export async function endProcess(exitCode: number): Promise<void> {
  // Errors of stdout are emitted in the next tick.
  await new Promise((resolve) => setImmediate(resolve));
  if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit(exitCode);
}

/** Writes text to stdout. */
export function print(text: string): void {
  if (process.stdout.writable) process.stdout.write(text);
}

/** Writes a line for the user to stderr. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
