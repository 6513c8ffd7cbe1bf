import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../store/open.ts';
import { DatabaseObjects } from './database-objects.ts';
import type { ObjectContent } from './object-store.ts';
import { textContent } from './stored-files.ts';

describe('a result store in the database', () => {
  let dir: string;
  let store: Store;
  let objects: DatabaseObjects;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-objects-'));
    store = await openStore(join(dir, 'service.db'));
    objects = new DatabaseObjects(store.resultObjects);
  });
  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true });
  });

  const text = async (name: string): Promise<string | null> => {
    const bytes = await objects.read(name, 0);
    return bytes && Buffer.concat(await Array.fromAsync(bytes)).toString();
  };
  /** The whole content in pieces of any size, all in the same memory. */
  const inPieces = (content: string, size: number): ObjectContent => ({
    ...textContent(content),
    async *bytes() {
      const memory = Buffer.alloc(size);
      for (let at = 0; at < content.length; at += size)
        yield memory.subarray(0, memory.write(content.slice(at, at + size)));
    },
  });

  it('gives back what it took, and takes it again', async () => {
    await objects.put('_/one/a/b.txt', textContent('hello'));
    await objects.put('_/one/a/b.txt', textContent('hello'));
    await objects.put('_/one/empty', textContent(''));
    expect([await text('_/one/a/b.txt'), await text('_/one/empty'), await text('_/one/none')]).toEqual([
      'hello',
      '',
      null,
    ]);
  });

  it.each([100_000, 2 ** 20, 3_000_000])(
    'keeps a large object in parts, read in pieces of %i bytes',
    async (size) => {
      const content = Array.from({ length: 400_000 }, (_none, line) => `${line}\n`).join('');
      await objects.put('large', inPieces(content, size));
      expect((await store.resultObjects.part('large', 0))?.parts).toBe(Math.ceil(content.length / 2 ** 20));
      expect(await text('large')).toBe(content);
      await objects.put('large', textContent('small'));
      expect(await text('large')).toBe('small');
      await objects.remove('large');
      await objects.remove('large');
      expect([await text('large'), await store.resultObjects.part('large', 1)]).toEqual([null, null]);
    },
  );

  it('has nothing of an object whose content breaks off, and says which part is missing', async () => {
    const torn: ObjectContent = {
      ...textContent('x'.repeat(3_000_000)),
      async *bytes() {
        yield Buffer.alloc(2_000_000);
        throw new Error('the file cannot be read');
      },
    };
    await expect(objects.put('torn', torn)).rejects.toThrow('cannot be read');
    expect(await text('torn')).toBeNull();
    await objects.put('whole', textContent('x'.repeat(3_000_000)));
    await store.execute("delete from result_objects where name = 'whole' and part = 1", []);
    await expect(text('whole')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
