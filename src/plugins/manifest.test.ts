import { describe, expect, it } from 'vitest';
import { checkPluginName, parseManifest } from './manifest.ts';

const hash = 'ab'.repeat(32);
const text = (more = '', name = 'hello') =>
  `name: ${name}\nversion: 1.2.3\nkind: script\nentry: main.mjs\nfiles: {main.mjs: ${hash}}\n${more}`;

describe('a manifest', () => {
  it('is read with its defaults', () => {
    expect(parseManifest(text('permissions: [network]\nrequires: [other-plugin]\n'))).toEqual({
      name: 'hello',
      version: '1.2.3',
      kind: 'script',
      entry: 'main.mjs',
      abi: 1,
      permissions: ['network'],
      requires: ['other-plugin'],
      files: new Map([['main.mjs', hash]]),
    });
  });

  it('says where its module belongs', () => {
    expect(parseManifest(text('stage: parser\n')).stage).toBe('parser');
  });

  it.each([
    ['stage: reporter\n', /stage: "reporter" is not one of discovery, .*evaluation/],
    ['permision: [network]\n', /line 6: unknown key "permision"; did you mean permissions\?/],
    ['color: red\n', /unknown key "color"; known: name/],
    ['permissions: [root]\n', /"root" is not a permission/],
    ['permissions: network\n', /not a list/],
    ['abi: 2\n', /abi: .*version 1 only/],
    ['requires: [../x]\n', /not a plugin name/],
    ['name: again\n', /line 6: .*unique/],
    ['requires: &a [abc]\npermissions: *a\n', /aliases/],
    ['requires: [[[\n', /line/],
    ['', /accepted/],
  ])('with %j', (more, reason) => {
    const read = () => {
      parseManifest(text(more));
      throw new Error('accepted');
    };
    expect(read).toThrow(reason);
  });

  it.each(['../x', '-rf', '__proto__', 'a'.repeat(300), 'ab', 'Hello', 'a b', 'a/b', 'a\u001b'])(
    'refuses the name %j',
    (name) => {
      expect(() => checkPluginName(name)).toThrow(/not a plugin name/);
      expect(() => parseManifest(text('', JSON.stringify(name)))).toThrow(/not a plugin name/);
    },
  );

  it('refuses reserved names, files that lead elsewhere and an entry that is no file', () => {
    expect(() => parseManifest(text('', 'worker_threads'))).toThrow(/reserved/);
    for (const path of ['../x', '/x', 'a//b', '.x', 'plugin.yaml']) {
      expect(() => parseManifest(text().replace('{main.mjs', `{${path}: ${hash}, main.mjs`))).toThrow(
        /files: /,
      );
    }
    expect(() => parseManifest(text().replace('entry: main.mjs', 'entry: other.mjs'))).toThrow(
      /not one of the files/,
    );
    expect(() => parseManifest(text().replace(hash, 'abc'))).toThrow(/not a SHA-256/);
    expect(() => parseManifest(text().replace('1.2.3', '../1'))).toThrow(/not a version/);
  });
});
