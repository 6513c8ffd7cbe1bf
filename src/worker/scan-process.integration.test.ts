import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ScanProcess, type ScanProcessInput } from './scan-process.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-process-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it('passes on whole lines of what the process writes to its log', async () => {
  const entryFile = join(dir, 'talk.mjs');
  const text = ['one\\ntw', 'o\\n', 'ünï', `${'x'.repeat(70_000)}\\nlast`];
  writeFileSync(
    entryFile,
    `const write = (text) => new Promise((resolve) => process.stderr.write(text, resolve));
     for (const part of [${text.map((part) => `'${part}'`).join(', ')}]) {
       await write(part);
       await new Promise((resolve) => setTimeout(resolve, 20));
     }
     process.exit(0);`,
  );
  const lines: string[] = [];
  const input = { entryFile, env: process.env, graceMs: 1000, start: { type: 'start' } };
  const talker = new ScanProcess({
    ...(input as unknown as ScanProcessInput),
    onNews: () => undefined,
    onFault: () => undefined,
    onLogLine: (line) => lines.push(line),
  });
  await talker.gone;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(lines.map((line) => line.length)).toEqual([3, 3, 65_536, 3 + 70_000 - 65_536, 4]);
  expect([lines[0], lines[1], lines[2]?.slice(0, 4), lines.at(-1)]).toEqual(['one', 'two', 'ünïx', 'last']);
});
