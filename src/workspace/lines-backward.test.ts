import { writeFileSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { linesBackward } from './lines-backward.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-lines-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function linesOf(text: string, to = text.length, longest = 100_000) {
  const path = join(dir, 'file');
  writeFileSync(path, text);
  const file = await open(path, 'r');
  try {
    return await Array.fromAsync(linesBackward(file, to, longest));
  } finally {
    await file.close();
  }
}

describe('lines from the end of a file', () => {
  it('come in reverse, with their offsets; what has no line feed yet is left out', async () => {
    expect(await linesOf('one\n\ntwo\nunfin')).toEqual([
      { bytes: 'two', start: 5, size: 4 },
      { bytes: '', start: 4, size: 1 },
      { bytes: 'one', start: 0, size: 4 },
    ]);
    expect(await linesOf('one\ntwo\n', 4)).toEqual([{ bytes: 'one', start: 0, size: 4 }]);
    expect(await linesOf('')).toEqual([]);
    expect(await linesOf('unfinished')).toEqual([]);
    expect((await linesOf('\n')).map(({ bytes }) => bytes)).toEqual(['']);
  });

  it('are whole wherever blocks end', async () => {
    const lengths = fc.array(fc.oneof(fc.nat(5), fc.integer({ min: 60_000, max: 90_000 })), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(lengths, async (given) => {
        const lines = given.map((length, at) => String.fromCharCode(97 + at).repeat(length));
        const found = await linesOf(lines.map((line) => `${line}\n`).join(''));
        expect(found.map(({ bytes }) => bytes)).toEqual(lines.toReversed());
      }),
      { numRuns: 40 },
    );
  });

  it('that are too long are named without their text, however long', async () => {
    const text = `first\n${'x'.repeat(900_000)}\nlast\n`;
    expect(await linesOf(text, text.length, 1000)).toEqual([
      { bytes: 'last', start: 900_007, size: 5 },
      { bytes: null, start: 6, size: 900_001 },
      { bytes: 'first', start: 0, size: 6 },
    ]);
    expect(await linesOf(`${'y'.repeat(1001)}\n`, 1002, 1000)).toEqual([
      { bytes: null, start: 0, size: 1002 },
    ]);
    expect((await linesOf(`${'y'.repeat(1000)}\n`, 1001, 1000))[0]?.bytes).toHaveLength(1000);
  });
});
