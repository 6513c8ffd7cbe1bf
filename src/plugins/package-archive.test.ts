import { gzipSync } from 'node:zlib';
import { packTar, type TarHeader } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import { readPackage, sha256Of, writePackage } from './package-archive.ts';

const code = 'export const Plugin = {};\n';
const manifest = (files: Record<string, string>, more = '') =>
  `name: hello\nversion: 1.0.0\nkind: script\nentry: main.mjs\n${more}files: ${JSON.stringify(files)}\n`;
const good = { 'main.mjs': sha256Of(Buffer.from(code)) };

type Entry = Pick<TarHeader, 'name'> & Partial<TarHeader> & { body?: string };

/** Any archive, also such as no honest tool writes. */
async function archive(entries: Entry[]): Promise<Buffer> {
  const packed = await packTar(
    entries.map(({ body = '', ...header }) => ({
      header: { size: Buffer.byteLength(body), ...header },
      body,
    })),
  );
  return gzipSync(packed);
}

const base: Entry[] = [
  { name: 'plugin.yaml', body: manifest(good) },
  { name: 'main.mjs', body: code },
];
const refusal = (bytes: Buffer) =>
  readPackage(bytes).then(
    () => 'accepted',
    (error: Error) => error.message,
  );

describe('a package', () => {
  it('is read as packed, with a leading ./ or without', async () => {
    const bytes = await writePackage(
      new Map([
        ['plugin.yaml', Buffer.from('name: hello\nversion: 1.0.0\nkind: script\nentry: lib/main.mjs\n')],
        ['lib/main.mjs', Buffer.from(code)],
      ]),
    );
    const read = await readPackage(bytes);
    expect(read.manifest).toMatchObject({ name: 'hello', version: '1.0.0', kind: 'script', abi: 1 });
    expect(read.sha256).toBe(sha256Of(bytes));
    expect([...read.files.keys()].sort()).toEqual(['lib/main.mjs', 'plugin.yaml']);
    const dotted = [
      { name: './', type: 'directory' as const },
      ...base.map((e) => ({ ...e, name: `./${e.name}` })),
    ];
    expect(await refusal(await archive(dotted))).toBe('accepted');
  });

  it.each<[string, Entry[], RegExp]>([
    ['a path out of it', [{ name: '../../x', body: 'x' }], /\.\./],
    ['a path out of it, hidden inside', [{ name: 'a/../../x', body: 'x' }], /\.\./],
    ['an absolute path', [{ name: '/etc/cron.d/x', body: 'x' }], /absolute/],
    ['a symbolic link', [{ name: 'a', type: 'symlink', linkname: '/etc' }], /neither a file/],
    [
      'a link that is called like a file',
      [
        { name: 'lib', type: 'symlink', linkname: '/tmp' },
        { name: 'lib/x', body: 'x' },
      ],
      /neither a file/,
    ],
    ['a hard link', [{ name: 'a', type: 'link', linkname: 'main.mjs' }], /neither a file/],
    ['a character device', [{ name: 'a', type: 'character-device' }], /neither a file/],
    ['a block device', [{ name: 'a', type: 'block-device' }], /neither a file/],
    ['a pipe', [{ name: 'a', type: 'fifo' }], /neither a file/],
    ['names that differ in case only', [{ name: 'MAIN.mjs', body: code }], /another case/],
    [
      'folders that differ in case only',
      [
        { name: 'a/x', body: 'x' },
        { name: 'A/y', body: 'y' },
      ],
      /case only/,
    ],
    ['the same name twice', [{ name: 'main.mjs', body: code }], /twice/],
    [
      'a file in place of a folder',
      [
        { name: 'a/x', body: 'x' },
        { name: 'a', body: 'x' },
      ],
      /both/,
    ],
    ['a file that is not listed', [{ name: 'more.mjs', body: 'x' }], /not listed/],
    ['a hidden file', [{ name: '.package.sig', body: 'x' }], /hidden/],
    ['a name with a control character', [{ name: 'a\u001b[2J', body: 'x' }], /characters other than/],
    ['a backslash', [{ name: '..\\x', body: 'x' }], /characters other than/],
    [
      'too many entries',
      Array.from({ length: 2100 }, (_, i) => ({ name: `f${i}`, body: '' })),
      /more than 2001 entries/,
    ],
  ])('with %s is refused as a whole', async (_what, entries, reason) => {
    expect(await refusal(await archive([...base, ...entries]))).toMatch(reason);
  });

  it('is refused if files are missing or changed, or its manifest is', async () => {
    expect(await refusal(await archive(base.slice(0, 1)))).toMatch(/"main.mjs" .* missing/);
    expect(await refusal(await archive([base[0] as Entry, { name: 'main.mjs', body: `${code} ` }]))).toMatch(
      /SHA-256/,
    );
    expect(await refusal(await archive(base.slice(1)))).toMatch(/no plugin\.yaml/);
  });

  it('is refused if damaged, cut off, or a bomb', async () => {
    const bytes = await archive(base);
    expect(await refusal(bytes.subarray(0, 60))).toMatch(/damaged/);
    expect(await refusal(Buffer.from('hello'))).toMatch(/not a \.tar\.gz/);
    expect(await refusal(Buffer.from('PK\u0003\u0004'))).toMatch(/zip archive is damaged/);
    expect(await refusal(gzipSync(Buffer.alloc(65 * 1024 * 1024)))).toMatch(/64 MiB/);
    expect(await refusal(Buffer.alloc(64 * 1024 * 1024 + 1))).toMatch(/64 MiB/);
  });
});
