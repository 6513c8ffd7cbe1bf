import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { ProgressLine } from './progress-report.ts';

/**
 * What vitest reports of a worker process that a fault of Node itself ended, with the files it had been given. Not SIGABRT: it is also how
 * a process ends whose heap is full, which is a fault of what it ran.
 */
const crashedWorker =
  /Worker exited unexpectedly with signal (SIGSEGV|SIGTRAP|SIGILL|SIGBUS) .*?while running test files? (.+)/g;
const unhandledErrors = /Vitest caught (\d+) unhandled errors?/;

interface Crash {
  signals: string[];
  /** The files that the ended workers had been given, as absolute paths. */
  files: string[];
}

/**
 * The workers that Node's own faults (V8's collector ends a process with SIGTRAP or SIGSEGV now and then) have ended.
 * Null when there were none, or when an error of a test's own was among what vitest caught: that one fails the run.
 */
export function crashedWorkers(output: string): Crash | null {
  const text = stripVTControlCharacters(output);
  const crashes = [...text.matchAll(crashedWorker)];
  const caught = Number(unhandledErrors.exec(text)?.[1] ?? 0);
  if (crashes.length === 0 || caught !== crashes.length) return null;
  return {
    signals: crashes.map(([, signal]) => signal as string),
    files: crashes.flatMap(([, , files]) => (files as string).trim().split(', ')),
  };
}

/** Of `files`, those that the run did not bring to their end; `progress` is the file that the progress reporter wrote. */
export function unfinished(files: string[], progress: string): string[] {
  const ended = new Set<string>();
  for (const text of readFileSync(progress, 'utf8').trimEnd().split('\n')) {
    const { event, file } = JSON.parse(text) as ProgressLine;
    if (event === 'ended') ended.add(file);
  }
  return files.filter((file) => ![...ended].some((name) => file.endsWith(`/${name}`)));
}
