import { describe, expect, it } from 'vitest';
import { type ZipEntry, zipOf } from './fixtures/zip.ts';
import { readPackage, sha256Of } from './package-archive.ts';

const code = 'export const Plugin = {};\n'.repeat(20);
const manifest = `name: hello\nversion: 1.0.0\nkind: script\nentry: lib/main.mjs\nfiles: {lib/main.mjs: ${sha256Of(Buffer.from(code))}}\n`;
const base: ZipEntry[] = [
  { name: 'plugin.yaml', body: manifest },
  { name: 'lib/main.mjs', body: code },
];
const outcome = (bytes: Buffer) =>
  readPackage(bytes).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
/** The second entry with other values. */
const changed = (change: Partial<ZipEntry>) =>
  zipOf([base[0] as ZipEntry, { ...(base[1] as ZipEntry), ...change }]);
const extra = (id: number, content = 'lib/other.mjs') => {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(id, 0);
  head.writeUInt16LE(content.length, 2);
  return Buffer.concat([head, Buffer.from(content)]);
};

describe('a zip package', () => {
  it('is read as tools write it: folders, modes, times, stored and streamed entries', async () => {
    const bytes = zipOf([
      { name: 'lib/', mode: 0o040755 },
      { name: 'plugin.yaml', body: manifest, mode: 0o100644, stored: true, local: { extra: extra(0x5455) } },
      { name: 'lib/main.mjs', body: code, streamed: true },
    ]);
    const { files, sha256, manifest: read } = await readPackage(bytes);
    expect([...files.keys()].sort()).toEqual(['lib/main.mjs', 'plugin.yaml']);
    expect([files.get('lib/main.mjs')?.toString(), sha256, read.name]).toEqual([
      code,
      sha256Of(bytes),
      'hello',
    ]);
  });

  it.each<[string, ZipEntry[], RegExp]>([
    ['a path out of it', [{ name: '../x', body: 'x' }], /\.\./],
    ['an absolute path', [{ name: '/etc/x', body: 'x' }], /absolute/],
    ['a backslash', [{ name: '..\\x', body: 'x' }], /characters other than/],
    ['a drive', [{ name: 'C:/x', body: 'x' }], /characters other than/],
    ['a name in another encoding', [{ name: 'caf\u0082.mjs', body: 'x' }], /characters other than/],
    ['a symbolic link', [{ name: 'a', mode: 0o120777, body: '/etc' }], /\(symlink\)/],
    ['a device', [{ name: 'a', mode: 0o020666 }], /\(character-device\)/],
    ['a folder that is called like a file', [{ name: 'a', mode: 0o040755 }], /file and directory/],
    ['a folder with content', [{ name: 'a/', body: 'x' }], /has content/],
    ['the same name twice', [{ name: 'lib/main.mjs', body: code }], /twice/],
    ['names that differ in case only', [{ name: 'lib/MAIN.mjs', body: code }], /another case/],
    ['folders that differ in case only', [{ name: 'LIB/x', body: 'x' }], /case only/],
    ['a file in place of a folder', [{ name: 'lib', body: 'x' }], /both a file and a folder/],
    ['a file that is not listed', [{ name: 'more.mjs', body: 'x' }], /not listed/],
  ])('with %s is refused as a whole', async (_what, entries, reason) => {
    expect(await outcome(zipOf([...base, ...entries]))).toMatch(reason);
  });

  it.each<[string, Partial<ZipEntry>, RegExp]>([
    ['that is encrypted', { local: { flags: 1 }, central: { flags: 1 } }, /is encrypted/],
    ['whose directory is encrypted', { central: { flags: 0x2000 } }, /is encrypted/],
    ['with a patch', { central: { flags: 0x20 } }, /flags that no package/],
    ['of another method', { central: { method: 14 } }, /method 14/],
    ['with another name in its local header', { local: { name: 'lib/evil.mjs' } }, /two things/],
    ['with another method in its local header', { local: { method: 0 } }, /two things/],
    ['with another size in its local header', { local: { size: 1 } }, /two things/],
    ['with no size in its local header', { local: { size: 0 } }, /two things/],
    ['with a second name', { central: { extra: extra(0x7075) } }, /extra field 0x7075/],
    ['with a link as extra field', { local: { extra: extra(0x756e) } }, /extra field 0x756e/],
    ['with sizes of ZIP64', { central: { extra: extra(0x0001) } }, /extra field 0x1/],
    [
      'with an extra field that is cut off',
      { central: { extra: Buffer.from([0x55, 0x54, 9, 0, 1]) } },
      /damaged/,
    ],
    ['whose descriptor says another size', { streamed: true, after: Buffer.alloc(12) }, /two things/],
    ['whose descriptor is missing', { streamed: true, after: Buffer.alloc(0) }, /data of no entry/],
    ['with data after it', { after: Buffer.from('hidden') }, /data of no entry/],
    ['with data after its end of deflate', { tail: Buffer.from('hidden') }, /data of no entry/],
    ['with another checksum', { local: { crc: 1 }, central: { crc: 1 } }, /damaged/],
    ['that unpacks to more than it says', { local: { size: 5 }, central: { size: 5 } }, /damaged/],
    ['that unpacks to less than it says', { local: { size: 5000 }, central: { size: 5000 } }, /damaged/],
    ['that lies over another', { central: { at: 0 } }, /overlaps/],
    ['that lies nowhere', { central: { at: 0xfffffff0 } }, /damaged|overlaps/],
    ['that reaches into the directory', { local: { packed: 900 }, central: { packed: 900 } }, /overlaps/],
  ])('with an entry %s is refused', async (_what, change, reason) => {
    expect(await outcome(changed(change))).toMatch(reason);
  });

  it('is refused with anything before, between or after its parts', async () => {
    const garbage = Buffer.from('#!/bin/sh\n');
    expect(await outcome(zipOf(base))).toBe('accepted');
    expect(await outcome(zipOf(base, { prefix: garbage }))).toMatch(/not a \.tar\.gz or \.zip/);
    expect(await outcome(zipOf(base, { prefix: Buffer.from('PK\u0003\u0004') }))).toMatch(/damaged/);
    expect(await outcome(zipOf(base, { gap: garbage }))).toMatch(/data of no entry/);
    expect(await outcome(zipOf(base, { suffix: garbage }))).toMatch(/other data at its end/);
    expect(await outcome(zipOf(base, { comment: 'hello' }))).toMatch(/comment/);
    expect(await outcome(zipOf(base, { suffix: zipOf([]) }))).toMatch(/damaged/);
    expect(await outcome(zipOf(base, { count: 1 }))).toMatch(/damaged/);
    expect(await outcome(zipOf(base, { count: 0xffff }))).toMatch(/ZIP64/);
  });

  it('is refused wherever it is cut off, and never read past its end', async () => {
    const bytes = zipOf(base);
    for (let length = 0; length < bytes.length; length++)
      expect(await outcome(bytes.subarray(0, length))).toMatch(/^plugin package refused: /);
  });

  it('is refused before it is unpacked if all of it is larger than 64 MiB', async () => {
    const size = 33 * 1024 * 1024;
    const bombs = ['a', 'b'].map((name) => ({ name, body: 'x', local: { size }, central: { size } }));
    expect(await outcome(zipOf([...base, ...bombs]))).toMatch(/larger than 64 MiB/);
    // One stream under two names.
    expect(await outcome(zipOf([...base, { name: 'c', body: 'x', central: { at: 0 } }]))).toMatch(/overlaps/);
  });

  it('is refused with every byte flipped, or gives the same files', async () => {
    const bytes = zipOf(base);
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ 0x10;
      const files = await readPackage(flipped).then(
        (read) => read.files.get('lib/main.mjs')?.toString(),
        (error: Error) => error.message,
      );
      expect(files === code || files?.startsWith('plugin package refused: '), `byte ${at}: ${files}`).toBe(
        true,
      );
    }
  });
});
