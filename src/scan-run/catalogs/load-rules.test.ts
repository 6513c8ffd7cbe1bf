import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PluginFile } from '../../plugins/plugin.ts';
import { loadRules } from './load-rules.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-rules-'));
  for (const name of ['shipped', 'plugin', 'workspace/config/rules', 'user/portolan/rules'])
    await mkdir(join(dir, name), { recursive: true });
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const rule = (id: string, type = 'evaluation') =>
  `id: ${id}\nname: A rule\nversion: 1.0.0\ntype: ${type}\nmatch: { logic: OR, rules: [{ field: port, operator: equals, value: 22 }] }\noutput: { severity: low, message: text }\n`;

const put = (file: string, text: string) => writeFile(join(dir, file), text);

async function load(plugins: PluginFile[] = [], enabled = true) {
  const config = { workspace: { enabled, dir: join(dir, 'workspace') } } as Parameters<typeof loadRules>[0];
  const env = { HOME: dir, XDG_CONFIG_HOME: join(dir, 'user') };
  const { set, problems } = await loadRules(config, { plugins, shippedDir: join(dir, 'shipped'), env });
  return { ids: set.rules.map(({ id }) => id), rules: set.rules, problems };
}

const plugin = { name: 'my-rules', version: '1.2.3', sha256: 'ab'.repeat(32) };
const placed = (): PluginFile => ({
  ...plugin,
  kind: 'rules',
  archive: true,
  folder: join(dir, 'plugin'),
  entry: 'main.yaml',
  permissions: [],
  source: 'installed',
});

describe('the rules of a scan', () => {
  it('are the shipped ones, those of the folders and those of plugins', async () => {
    await put('shipped/a.yaml', rule('shipped-rule'));
    await put('user/portolan/rules/b.yml', rule('user-rule'));
    await put('workspace/config/rules/c.yaml', `${rule('first-rule')}---\n${rule('second-rule')}`);
    await put('workspace/config/rules/notes.txt', 'no rules');
    await put('plugin/main.yaml', rule('plugin-rule'));
    await put('plugin/more.yaml', rule('more-rules'));
    await put('plugin/plugin.yaml', 'name: my-rules\n');
    const { ids, rules, problems } = await load([placed()]);
    expect(problems).toEqual([]);
    expect(ids).toEqual([
      'shipped-rule',
      'user-rule',
      'first-rule',
      'second-rule',
      'plugin-rule',
      'more-rules',
    ]);
    expect(rules.map(({ producer }) => producer)).toEqual([
      ...[0, 1, 2, 3].map(() => undefined),
      plugin,
      plugin,
    ]);
  });

  it('follow a changed file', async () => {
    await put('workspace/config/rules/c.yaml', rule('first-rule'));
    await load();
    await put('workspace/config/rules/c.yaml', rule('second-rule'));
    expect((await load()).ids).toEqual(['second-rule']);
  });

  it('stay those of before while a file is invalid', async () => {
    await put('workspace/config/rules/c.yaml', rule('first-rule'));
    await load();
    await put('workspace/config/rules/c.yaml', rule('second-rule').replace('1.0.0', 'one'));
    for (const _ of ['once', 'again']) {
      const { ids, problems } = await load();
      expect(ids).toEqual(['first-rule']);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(
        /c\.yaml:3: version: must be .*; the rules that this file had before hold$/,
      );
    }
    await rm(join(dir, 'workspace/config/rules/c.yaml'));
    expect(await load()).toMatchObject({ ids: [], problems: [] });
  });

  it('lack a file that was never valid', async () => {
    await put('workspace/config/rules/c.yaml', 'id: x\n');
    await put('workspace/config/rules/d.yaml', rule('other-rule'));
    const { ids, problems } = await load();
    expect(ids).toEqual(['other-rule']);
    expect(problems[0]).not.toContain('before hold');
  });

  it('reject a file with the id of another one', async () => {
    await put('shipped/a.yaml', rule('a-rule'));
    await put('workspace/config/rules/c.yaml', `${rule('a-rule')}---\n${rule('b-rule')}`);
    await put('plugin/main.yaml', rule('a-rule'));
    const { ids, problems } = await load([placed()]);
    expect(ids).toEqual(['a-rule']);
    expect(problems.map((problem) => /a-rule is already a rule of .*a\.yaml/.test(problem))).toEqual([
      true,
      true,
    ]);
  });

  it('lack a plugin that has one id twice', async () => {
    await put('plugin/main.yaml', rule('a-rule'));
    await put('plugin/more.yaml', rule('a-rule'));
    expect((await load([placed()])).problems).toEqual([
      'plugin my-rules 1.2.3: evaluation rules rejected: more.yaml: a-rule is already the id of another rule of the plugin',
    ]);
  });

  it('name a rule of a type that is not evaluated', async () => {
    await put('workspace/config/rules/c.yaml', rule('a-rule', 'output'));
    expect((await load()).problems).toEqual([expect.stringContaining('a-rule has the type output')]);
  });

  it('need no workspace', async () => {
    await put('shipped/a.yaml', rule('a-rule'));
    await put('workspace/config/rules/c.yaml', rule('b-rule'));
    expect((await load([], false)).ids).toEqual(['a-rule']);
  });
});
