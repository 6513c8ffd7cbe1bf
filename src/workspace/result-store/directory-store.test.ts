import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryStore } from './directory-store.ts';
import type { ObjectContent } from './object-store.ts';
import { textContent } from './stored-files.ts';

describe('a result store in a directory', () => {
  let root: string;
  let store: DirectoryStore;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'portolan-results-'));
    store = new DirectoryStore(root);
    await store.check();
  });

  afterEach(() => rm(root, { recursive: true, force: true }));

  const text = async (name: string): Promise<string | null> => {
    const bytes = await store.read(name, 0);
    return bytes && Buffer.concat(await Array.fromAsync(bytes)).toString();
  };
  const drafts = () => readdir(join(root, '.incoming'));

  it('gives back what it took, and takes it again', async () => {
    await store.put('_/one/a/b.txt', textContent('hello'));
    await store.put('_/one/a/b.txt', textContent('hello'));
    expect(await text('_/one/a/b.txt')).toBe('hello');
    expect(await text('_/one/none')).toBeNull();
    expect(await drafts()).toEqual([]);
  });

  it('removes empty folders with their last object, and nothing else', async () => {
    await store.put('_/one/a/b.txt', textContent('1'));
    await store.put('_/two/c.txt', textContent('2'));
    await store.remove('_/one/a/b.txt');
    await store.remove('_/one/a/b.txt');
    expect(await readdir(join(root, '_'))).toEqual(['two']);
    expect(await text('_/two/c.txt')).toBe('2');
  });

  it('has nothing of an object whose content breaks off', async () => {
    const torn: ObjectContent = {
      ...textContent('whole'),
      async *bytes() {
        yield Buffer.from('wh');
        throw new Error('the file cannot be read');
      },
    };
    await expect(store.put('_/one/a.txt', torn)).rejects.toThrow('cannot be read');
    expect(await text('_/one/a.txt')).toBeNull();
    expect(await drafts()).toEqual([]);
  });

  it('holds one whole object when many write it at once, also while it is removed', async () => {
    const contents = Array.from({ length: 20 }, (_none, index) => String(index).repeat(300_000));
    await Promise.all(
      contents.map(async (content, index) => {
        await store.put('_/one/deep/a.txt', textContent(content));
        if (index % 5 === 0) await store.remove('_/one/deep/a.txt');
      }),
    );
    await store.put('_/one/deep/a.txt', textContent(contents[7] ?? ''));
    expect(await text('_/one/deep/a.txt')).toBe(contents[7]);
    expect(await drafts()).toEqual([]);
  });

  it('does not follow links', async () => {
    await mkdir(join(root, '_', 'one'), { recursive: true });
    await writeFile(join(root, 'secret'), 'secret');
    await symlink(join(root, 'secret'), join(root, '_', 'one', 'a.txt'));
    await expect(text('_/one/a.txt')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('takes drafts away that somebody left who died', async () => {
    const [old, young] = ['old', 'young'].map((name) => join(root, '.incoming', name));
    for (const path of [old, young]) await writeFile(path as string, 'x');
    await utimes(old as string, 1, 1);
    await store.check();
    expect(await drafts()).toEqual(['young']);
  });

  it('is private', async () => {
    await store.put('_/one/a.txt', textContent('1'));
    const { stat } = await import('node:fs/promises');
    expect((await stat(join(root, '_/one/a.txt'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(root, '_/one'))).mode & 0o777).toBe(0o700);
  });

  it('that is missing, a file, or gone is told apart from one without the object', async () => {
    const missing = new DirectoryStore(join(root, 'missing'));
    await expect(missing.check()).rejects.toMatchObject({ code: 'configuration' });
    await expect(missing.check()).rejects.toThrow('workspace.result_store.url');
    await writeFile(join(root, 'file'), '');
    await expect(new DirectoryStore(join(root, 'file')).check()).rejects.toThrow('is not a directory');
    await store.put('_/one/a.txt', textContent('1'));
    await rm(root, { recursive: true });
    await expect(text('_/one/a.txt')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.remove('_/one/a.txt')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('that takes no files is refused', async () => {
    await expect(new DirectoryStore('/sys').check()).rejects.toThrow('is not writable');
  });

  it('keeps the bytes as they are', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_none, value) => value));
    await store.put('_/one/a.bin', {
      ...textContent(''),
      size: 256,
      bytes: async function* all() {
        yield bytes;
      },
    });
    expect(await readFile(join(root, '_/one/a.bin'))).toEqual(bytes);
  });
});
