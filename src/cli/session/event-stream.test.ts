import { describe, expect, it } from 'vitest';
import { readEvents, readLines } from './event-stream.ts';

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* pieces(text: string, size: number) {
  for (let index = 0; index < text.length; index += size) yield text.slice(index, index + size);
}

describe('readEvents', () => {
  it('reads ids, names and data, and skips heartbeats', async () => {
    const text =
      ': heartbeat\n\nid: 1\nevent: port\ndata: {"a":1}\n\nid: 2\r\nevent:end\r\ndata: x\r\ndata: y\r\n\r\n';
    for (const size of [1, 5, 1000]) {
      expect(await collect(readEvents(pieces(text, size)))).toEqual([
        { id: '1', event: 'port', data: '{"a":1}' },
        { id: '2', event: 'end', data: 'x\ny' },
      ]);
    }
  });

  it('rejects an event of endless lines without data, too', async () => {
    for (const line of [`data: ${'x'.repeat(65_530)}\n`, `${'data:\n'.repeat(10_000)}`]) {
      let read = 0;
      const endless = (async function* () {
        for (; ; read += line.length) yield line;
      })();
      await expect(collect(readEvents(endless))).rejects.toMatchObject({
        code: 'network',
        message: 'the server sent an event longer than 16 MiB',
      });
      expect(read).toBeLessThan(112 * 1024 * 1024);
    }
  });

  it('drops an event that was not finished', async () => {
    expect(await collect(readEvents(pieces('id: 1\ndata: half', 3)))).toEqual([]);
  });
});

describe('readLines', () => {
  it('gives lines without their ends, also the last', async () => {
    expect(await collect(readLines(pieces('a\r\nb\n\nc', 2)))).toEqual(['a', 'b', '', 'c']);
  });

  it('refuses an endless line', async () => {
    const endless = (async function* () {
      for (let index = 0; index < 40; index++) yield 'x'.repeat(1024 * 1024);
    })();
    await expect(collect(readLines(endless))).rejects.toMatchObject({
      code: 'network',
      message: 'the server sent a line longer than 16 MiB',
    });
  });
});
