import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { crashedWorkers, unfinished } from './crashed-workers.ts';

const ended = (how: string) =>
  `Caused by: Error: Worker exited unexpectedly with ${how} during started state while running test files /p/a.test.ts, /p/b.test.ts`;

test('a run without an ended worker has no crash', () => {
  expect(crashedWorkers('Vitest caught 1 unhandled error during the test run.\nError: boom')).toBeNull();
});

test('a signal of a fault in Node names the files of its worker, in color too', () => {
  const output = `Vitest caught 1 unhandled error during\n\x1b[31m${ended('signal SIGTRAP')}\x1b[39m\n`;
  expect(crashedWorkers(output)).toEqual({ signals: ['SIGTRAP'], files: ['/p/a.test.ts', '/p/b.test.ts'] });
});

test('an error beside the crash still fails the run', () => {
  expect(
    crashedWorkers(`Vitest caught 2 unhandled errors during\n${ended('signal SIGSEGV')}\nError: boom`),
  ).toBeNull();
});

test.each(['exit code 1', 'signal SIGABRT', 'signal SIGKILL', 'signal SIGTERM'])(
  'a worker that ended with %s did not crash',
  (how) => {
    expect(crashedWorkers(`Vitest caught 1 unhandled error during\n${ended(how)}`)).toBeNull();
  },
);

test('files that ended before the crash are not run again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-crash-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const progress = join(folder, 'progress.jsonl');
  const lines = [
    { event: 'began', file: 'a.test.ts' },
    { event: 'ended', file: 'a.test.ts' },
    { event: 'began', file: 'b.test.ts' },
  ];
  writeFileSync(progress, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  expect(unfinished(['/p/a.test.ts', '/p/b.test.ts', '/p/c.test.ts'], progress)).toEqual([
    '/p/b.test.ts',
    '/p/c.test.ts',
  ]);
});
