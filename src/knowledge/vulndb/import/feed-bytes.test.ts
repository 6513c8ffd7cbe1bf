import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { feedBytes } from './feed-bytes.ts';

async function* pieces(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function read(source: AsyncIterable<Uint8Array>, most?: number): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of feedBytes(source, most)) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Ten gigabytes of blanks, packed to ten megabytes; produced in chunks, which `taken` counts. */
async function* bomb(taken: () => void): AsyncGenerator<Uint8Array> {
  const member = gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '));
  for (let index = 0; index < 640; index++) {
    taken();
    yield member;
  }
}

describe('feedBytes', () => {
  it('gives plain and packed feeds alike, however they are cut', async () => {
    const text = '{"a":1}'.repeat(1000);
    const packed = gzipSync(text);
    expect(await read(pieces(Buffer.from(text)))).toBe(text);
    expect(await read(pieces(packed))).toBe(text);
    expect(await read(pieces(packed.subarray(0, 1), packed.subarray(1, 9), packed.subarray(9)))).toBe(text);
    expect(await read(pieces())).toBe('');
    expect(await read(pieces(Buffer.from('{')))).toBe('{');
  });

  it('refuses packed data that is cut off or broken', async () => {
    const packed = gzipSync(
      Buffer.from(Array.from({ length: 5000 }, (_, index) => `${index * 7919}`).join()),
    );
    await expect(read(pieces(packed.subarray(0, packed.length / 2)))).rejects.toThrow('is truncated');
    const broken = Buffer.from(packed);
    broken.fill(0xff, 200, 400);
    await expect(read(pieces(broken))).rejects.toThrow('is damaged gzip data');
  });

  it('stops at the cap, a feed that unpacks to 10 GB long before its end', async () => {
    await expect(read(pieces(Buffer.alloc(100)), 99)).rejects.toThrow('is larger than');
    let taken = 0;
    const source = bomb(() => void taken++);
    await expect(read(source, 64 * 1024 * 1024)).rejects.toThrow('is larger than 64MiB when decompressed');
    // Four of 16 MiB fill the cap; the others wait in the buffers before the decompressor.
    expect(taken).toBeLessThan(20);
  });

  it('hands on what the source says is wrong', async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield gzipSync('x').subarray(0, 12);
      throw new Error('no more');
    }
    await expect(read(failing())).rejects.toThrow('no more');
  });
});
