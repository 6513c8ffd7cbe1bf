import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderExample } from './example.ts';
import { loadConfig } from './load.ts';
import { type ConfigKey, configKeys } from './schema.ts';
import { showSettings, writtenValue } from './show.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-example-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function load(text: string) {
  const file = join(dir, 'c.yaml');
  writeFileSync(file, text);
  return loadConfig({ file, env: { HOME: dir }, systemFile: join(dir, 'none.yaml'), strict: true });
}

describe('the example file', () => {
  const keys: readonly ConfigKey[] = configKeys;
  const shipped = keys.filter((key) => key.shipped !== undefined);
  const slackWarning = expect.stringContaining(
    'notifications.slack.webhook_url: environment variable SLACK_WEBHOOK_URL is not set, using an empty value',
  );

  it('is read without a remark and sets exactly the keys that are shipped otherwise', () => {
    const { warnings, origins } = load(renderExample());
    expect(warnings).toEqual([slackWarning]);
    const set = [...origins].filter(([, origin]) => origin.includes('c.yaml')).map(([path]) => path);
    const fixed = shipped.filter((key) => !String(key.shipped).startsWith('${'));
    expect(set.toSorted()).toEqual(fixed.map(({ path }) => path).toSorted());
  });

  it('holds the values that are shipped', () => {
    const shown = new Map(showSettings(load(renderExample())).map(({ key, value }) => [key, value]));
    for (const { path, shipped: value } of shipped) {
      // An unset variable leaves the key at its default.
      const expected = String(value).startsWith('${') ? null : value;
      expect([path, shown.get(path)]).toEqual([path, expected]);
    }
  });

  it('is still good with every line in force', () => {
    const comment = /^( *)# ([a-z0-9_]+:.*)$/gm;
    const all = renderExample().replace(
      comment,
      (_line, indent: string, setting: string) => indent + setting,
    );
    const { warnings, config } = load(all);
    expect(warnings).toEqual([slackWarning]);
    expect(config.scanner.timeout).toBe(3000);
    expect(config.engine.global_timeout).toBe(0);
  });
});

describe('a shown value', () => {
  it('is written as a file would have it', () => {
    const text =
      'workspace: {retention: {max_age: 6mo, min_free_space: 1.5GiB}}\nengine: {global_timeout: 90s}\n';
    const shown = new Map(showSettings(load(text)).map((one) => [one.key, one]));
    expect(shown.get('workspace.retention.max_age')).toMatchObject({ value: '180d' });
    expect(shown.get('workspace.retention.min_free_space')).toMatchObject({ value: '1536MiB' });
    expect(shown.get('engine.global_timeout')?.value).toBe('1m30s');
    expect(shown.get('engine.global_timeout')?.origin).toMatch(/c\.yaml:2:\d+$/);
    expect(shown.get('scanner.rate')).toEqual({ key: 'scanner.rate', value: 'auto', origin: 'default' });
  });

  it('is hidden when it is a secret, and told to be missing when it is', () => {
    const key: ConfigKey = { path: 'a.b', type: 'string', default: null, description: '', secret: true };
    expect(writtenValue(key, 'hunter2')).toBe('(hidden)');
    expect(writtenValue(key, null)).toBeNull();
  });

  it('hides secrets within entries and passwords within URLs', () => {
    const text = [
      'notifications:',
      '  webhooks:',
      '    - {name: ops, url: "https://h.example/T0P", secret: S3CRET, headers: {Authorization: T0KEN}}',
      'plugins: {manifest_url: "https://me:PASSW0RD@plugins.example/m.json"}',
      'fingerprint: {cache: {url: "https://feeds.example/rules?key=K3Y&set=a#sha256=1"}}',
    ].join('\n');
    const shown = new Map(showSettings(load(text)).map(({ key, value }) => [key, value]));
    expect(JSON.stringify([...shown])).not.toMatch(/T0P|S3CRET|T0KEN|PASSW0RD|K3Y/);
    expect(shown.get('notifications.webhooks')).toEqual([
      {
        name: 'ops',
        url: '(hidden)',
        secret: '(hidden)',
        events: [],
        headers: { Authorization: '(hidden)' },
      },
    ]);
    expect(shown.get('plugins.manifest_url')).toBe('https://(hidden)@plugins.example/m.json');
    expect(shown.get('fingerprint.cache.url')).toBe(
      'https://feeds.example/rules?key=(hidden)&set=(hidden)#sha256=1',
    );
  });
});
