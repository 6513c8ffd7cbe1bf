import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { allocateReserve, giveUpReserve } from './reserve.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-reserve-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it('takes real room for its owner only, completes what was cut off, and gives it back', async () => {
  const file = join(dir, 'reserve');
  await writeFile(file, 'cut off');
  await allocateReserve(dir);
  const { size, blocks, mtimeMs } = await stat(file);
  expect([size, blocks * 512 >= size]).toEqual([1024 * 1024, true]);
  await allocateReserve(dir);
  expect((await stat(file)).mtimeMs).toBe(mtimeMs);
  await giveUpReserve(dir);
  await giveUpReserve(dir);
  expect(await readdir(dir)).toEqual([]);
});

it('does without where it cannot be kept', async () => {
  await allocateReserve(join(dir, 'gone'));
  expect(await readdir(dir)).toEqual([]);
});
