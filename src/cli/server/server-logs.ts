import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import { rotatedFiles } from '../../workspace/rotated-files.ts';
import { textLinesOf } from '../../workspace/text-lines.ts';
import { readConfig } from '../session/session.ts';
import { printable } from '../terminal/draw/printable.ts';
import { usage } from '../terminal/failure.ts';
import { type GlobalFlags, logLevels } from '../terminal/globals.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import { print } from '../terminal/output.ts';

export interface LogsFlags {
  follow?: boolean;
  tail?: number;
  since?: string;
  level?: string;
}

/** Number of lines without --tail and --since. */
const usualTail = 100;
/** Maximum line length, bytes; longer lines are cut. */
const longestLine = 64 * 1024;
/** Poll interval of --follow, milliseconds. */
const pollMs = 250;

/** Filter of lines. A line without a timestamp (a stack trace) belongs to the one before. */
class Filter {
  readonly #since: number;
  readonly #least: number;
  #shown = false;

  constructor(since: number | null, level: string | undefined) {
    this.#since = since ?? 0;
    this.#least = level === undefined ? 0 : logLevels.indexOf(level);
  }

  takes(line: string): boolean {
    const head = headOf(line);
    if (head) this.#shown = head.time >= this.#since && logLevels.indexOf(head.level) >= this.#least;
    return this.#shown;
  }
}

/** Prints the log of the server on this machine, rotated files too. @throws PortolanError `not_found` without a file */
export async function showLogs(flags: LogsFlags, global: GlobalFlags): Promise<void> {
  const since = flags.since === undefined ? null : readSince(flags.since);
  const { config } = await readConfig(global);
  const path = logFileOf(config);
  const files = [...(await rotatedFiles(path).catch(() => [])), path];
  const present = await presentFiles(files, since);
  if (present.length === 0 && !(flags.follow && goesToFile(config))) throw noLogFile(config, path, since);
  const tail = flags.tail ?? (since === null ? usualTail : null);
  const makeFilter = () => new Filter(since, flags.level);
  // Later bytes of the last file are new; --follow shows them.
  const end = await sizeOf(path);
  if (tail === null) {
    const filter = makeFilter();
    for (const file of present) await eachLine(file, file === path ? end : undefined, filter, show);
  } else {
    for (const line of await lastLines(present, path, end, tail, makeFilter)) show(line);
  }
  if (flags.follow) await follow(path, end, makeFilter());
}

function show(line: string): void {
  print(`${printable(Buffer.from(line, 'latin1').toString('utf8'))}\n`);
}

function logFileOf({ logging, workspace }: Config): string {
  return logging.file.path || join(workspace.dir, 'logs', 'portolan.log');
}

function goesToFile({ logging }: Config): boolean {
  return logging.output === 'file' || logging.file.enabled;
}

function noLogFile(config: Config, path: string, since: number | null): PortolanError {
  if (goesToFile(config) || since !== null) return new PortolanError('not_found', `no log at ${path}`);
  return new PortolanError(
    'not_found',
    `the server logs to ${config.logging.output}, not to a file (none at ${path}); set logging.output: file, ` +
      'logging.file.enabled: true, or start the server with --daemon',
  );
}

/** Files that may contain lines of the period, oldest first. */
async function presentFiles(files: readonly string[], since: number | null): Promise<string[]> {
  const present: string[] = [];
  for (const file of files) {
    const stats = await stat(file).catch(() => null);
    if (stats?.isFile() && (since === null || stats.mtimeMs >= since)) present.push(file);
  }
  return present;
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

/** Reads the newest files first and stops when there are enough lines. */
async function lastLines(
  files: readonly string[],
  path: string,
  end: number,
  count: number,
  makeFilter: () => Filter,
): Promise<string[]> {
  let lines: string[] = [];
  for (const file of [...files].reverse()) {
    const missing = count - lines.length;
    if (missing <= 0) break;
    let kept: string[] = [];
    await eachLine(file, file === path ? end : undefined, makeFilter(), (line) => {
      kept.push(line);
      if (kept.length >= 2 * missing + 1000) kept = kept.slice(-missing);
    });
    lines = [...kept.slice(-missing), ...lines];
  }
  return lines;
}

async function eachLine(
  path: string,
  end: number | undefined,
  filter: Filter,
  take: (line: string) => void,
): Promise<void> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new PortolanError('permission', `cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`);
  });
  try {
    const to = end ?? (await file.stat()).size;
    for await (const { bytes } of textLinesOf(file, { to, longest: longestLine })) {
      if (filter.takes(bytes)) take(bytes);
    }
  } finally {
    await file.close();
  }
}

/** Follows the log through rotations until Ctrl-C. */
async function follow(path: string, from: number, filter: Filter): Promise<void> {
  const stopping = new AbortController();
  const release = onInterrupt(() => stopping.abort(), 0);
  let file: FileHandle | null = null;
  let at = from;
  try {
    while (!stopping.signal.aborted && process.stdout.writable) {
      file ??= await open(path, 'r').catch(() => null);
      if (file) {
        at = await showNew(file, at, filter);
        if (await wasReplaced(file, path)) {
          await showNew(file, at, filter);
          await file.close();
          file = null;
          at = 0;
          continue;
        }
      }
      await sleep(pollMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  } finally {
    await file?.close();
    release();
  }
}

/** @returns offset after the last complete line shown */
async function showNew(file: FileHandle, from: number, filter: Filter): Promise<number> {
  const to = (await file.stat()).size;
  // A file that got shorter was truncated.
  let at = to < from ? 0 : from;
  for await (const { bytes, ended, end } of textLinesOf(file, { from: at, to, longest: longestLine })) {
    if (!ended) break;
    if (filter.takes(bytes)) show(bytes);
    at = end;
  }
  return at;
}

async function wasReplaced(file: FileHandle, path: string): Promise<boolean> {
  const [own, named] = [await file.stat(), await stat(path).catch(() => null)];
  return named !== null && named.ino !== own.ino;
}

/** Time and level of a line in either form, or null. */
function headOf(line: string): { time: number; level: string } | null {
  const text = /^(\d{4}-\d{2}-\d{2}T[\d:.]+Z) (\w+) /.exec(line);
  if (text) return { time: Date.parse(text[1] as string), level: text[2] as string };
  const level = /^\{"level":"(\w+)"/.exec(line)?.[1];
  const time = /"time":"(\d{4}-\d{2}-\d{2}T[\d:.]+Z)"/.exec(line.slice(0, 80))?.[1];
  return level && time ? { time: Date.parse(time), level } : null;
}

/** A time, a date, or how long ago. */
function readSince(text: string): number {
  const ago = parseDuration(text);
  if (ago !== null) return Date.now() - ago;
  const time = /^\d{4}-\d{2}-\d{2}(T.+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw usage(`--since: "${text}" is not a time (2026-10-06T14:30:00Z), a date or a duration such as 1h`);
}
