import { chmodSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigFolder } from './fixtures/config-folder.ts';
import { type ConfigKey, configKeys, environmentNames } from './schema.ts';

let folder: ConfigFolder;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  folder = new ConfigFolder();
  ({ env } = folder);
});
afterEach(() => folder.remove());

describe('entries', () => {
  const hook = '{name: a, url: "https://a.example/"}';

  it('are read with the defaults of their members', () => {
    const text = [
      `notifications: {webhooks: [${hook}]}`,
      'workers: {pools: {dmz: {max: 3, tags: [x]}, lab: }}',
      'plugins: {trusted_publishers: [{fingerprint: "' + 'ab'.repeat(32) + '"}]}',
    ].join('\n');
    const { config, warnings } = folder.load({ file: folder.file('e.yaml', text) });
    expect(config.notifications.webhooks).toEqual([
      { name: 'a', url: 'https://a.example/', secret: null, events: [], headers: {} },
    ]);
    expect(config.workers.pools).toEqual({ dmz: { max: 3, tags: ['x'] }, lab: { max: null, tags: [] } });
    const publisher = { fingerprint: 'ab'.repeat(32), name: null, bound: false };
    expect(config.plugins.trusted_publishers).toEqual([publisher]);
    expect(warnings.filter((text) => !text.includes('no effect'))).toEqual([]);
  });

  it('of plugins stand in a list, or in a map with further keys', () => {
    const entry = '{name: my_plugin, type: grpc, endpoint: "127.0.0.1:50051", timeout: 5s}';
    const expected = {
      name: 'my_plugin',
      type: 'grpc',
      endpoint: '127.0.0.1:50051',
      timeout: 5000,
      batch_size: 64,
      tls: { ca_file: '', cert_file: '', key_file: '' },
    };
    expect(folder.load({ file: folder.file('p.yaml', `plugins: [${entry}]`) }).config.plugins.list).toEqual([
      expected,
    ]);
    const map = folder.load({
      file: folder.file('p.yaml', `plugins: {require_signature: true, list: [${entry}]}`),
    });
    expect(map.config.plugins).toMatchObject({ require_signature: true, list: [expected] });
    env['SERVICE_PLUGINS'] = JSON.stringify([
      { name: 'other', endpoint: '[::1]:1', tls: { ca_file: '/ca.pem' } },
    ]);
    expect(folder.load().config.plugins.list).toEqual([
      {
        ...expected,
        name: 'other',
        endpoint: '[::1]:1',
        timeout: 30_000,
        tls: { ca_file: '/ca.pem', cert_file: '', key_file: '' },
      },
    ]);
  });

  it.each([
    ['missing', '[{name: a}]', 'f:1:28 notifications.webhooks[0].url: required'],
    [
      'wrong',
      '[{name: a, url: ftp://x}]',
      'f:1:43 notifications.webhooks[0].url: must be an http or https URL',
    ],
    ['twice', `[${hook}, ${hook}]`, 'f:1:73 notifications.webhooks[1].name: duplicate value "a"'],
    ['no map', '[x]', 'f:1:28 notifications.webhooks[0]: must be a map, not a string'],
    ['no list', '{name: a}', 'f:1:27 notifications.webhooks: must be a list of entries, not a map'],
    [
      'a bad header',
      '[{name: a, url: "http://x", headers: {"a b": c}}]',
      'f:1:64 notifications.webhooks[0].headers: has the invalid name "a b"',
    ],
    [
      'an unknown event',
      '[{name: a, url: "http://x", events: [all]}]',
      'f:1:63 notifications.webhooks[0].events: entry 1 must be one of scan.completed',
    ],
  ])('are refused with line and column: %s', (_rule, list, expected) => {
    expect(folder.problemsOf(`notifications: {webhooks: ${list}}`)).toEqual([
      expect.stringContaining(expected),
    ]);
  });

  it('of notification rules name events, severities and webhooks that exist', () => {
    const rules = '[{channels: ["slack://a", "webhook://a"], min_severity: high, only_changes: true}]';
    const path = folder.file('r.yaml', `notifications: {webhooks: [${hook}], rules: ${rules}}`);
    expect(folder.load({ file: path }).config.notifications.rules).toEqual([
      { channels: ['slack://a', 'webhook://a'], events: [], min_severity: 'high', only_changes: true },
    ]);
    const problem = (entry: string) => folder.problemsOf(`notifications: {rules: [{${entry}}]}`).join();
    expect(problem('channels: ["webhook://b"]')).toMatch(
      /^f:1:\d+ notifications.rules\[0\].channels: webhook:\/\/b is not one of notifications.webhooks$/,
    );
    expect(problem('channels: ["teams://b"]')).toContain('notifications.rules[0].channels: entry 1 must be');
    expect(problem('events: [scan.started]')).toContain('must be one of scan.completed, scan.failed');
    expect(problem('min_severity: bad')).toContain('notifications.rules[0].min_severity: must be one of');
    expect(problem('only_changes: maybe')).toContain('notifications.rules[0].only_changes: must be');
  });

  it('of a map are refused by name', () => {
    expect(folder.problemsOf('workers: {pools: {Big: {}, ok: {max: 0}}}')).toEqual([
      expect.stringContaining('f:1:24 workers.pools.Big: must be named with lower-case letters'),
      'f:1:38 workers.pools.ok.max: must be at least 1, not 0',
    ]);
  });

  it('name the nearest known member', () => {
    const path = folder.file(
      'n.yaml',
      'notifications:\n  webhooks:\n    - {name: a, url: "http://x", secrt: b}\n',
    );
    const remark = `${path}:3:34 notifications.webhooks[0].secrt: unknown key; did you mean secret?`;
    expect(folder.load({ file: path }).warnings).toContain(remark);
    expect(() => folder.load({ file: path, strict: true })).toThrow(remark);
  });

  it('are JSON in environment variables', () => {
    env['SERVICE_NOTIFICATIONS__WEBHOOKS'] = '[{"name":"a","url":"http://x","__proto__":{"secret":"y"}}]';
    expect(folder.load().config.notifications.webhooks[0]?.secret).toBeNull();
    env['SERVICE_NOTIFICATIONS__WEBHOOKS'] = '[{"name":"a"}]';
    expect(folder.problemsOf('{}')).toEqual([
      'environment SERVICE_NOTIFICATIONS__WEBHOOKS notifications.webhooks[0].url: required',
    ]);
    env['SERVICE_NOTIFICATIONS__WEBHOOKS'] = 'a,b';
    expect(folder.problemsOf('{}').join()).toContain(
      'notifications.webhooks: must be JSON such as [{"name": "..."}]',
    );
  });

  it('take texts of variables', () => {
    env['HOOK'] = 'https://h.example/x';
    env['SIZE'] = '7';
    const text =
      'notifications: {webhooks: [{name: a, url: "${HOOK}"}]}\nworkers: {pools: {p: {max: "${SIZE}"}}}';
    const { config } = folder.load({ file: folder.file('v.yaml', text) });
    expect(config.notifications.webhooks[0]?.url).toBe('https://h.example/x');
    expect(config.workers.pools?.['p']?.max).toBe(7);
  });
});

describe('options of modules', () => {
  it('come from files and the environment, one by one', () => {
    const user = folder.file(
      '.config/portolan/config.yaml',
      'modules: {connect_scanner: {timeout: 1s, retries: 2}}',
    );
    const named = folder.file(
      'm.yaml',
      'modules:\n  connect_scanner: {timeout: 2s}\n  constructor: {prototype: x}\n',
    );
    env['SERVICE_MODULES__CONNECT_SCANNER__PORTS'] = 'top-10';
    const { config, origins } = folder.load({ file: named });
    expect(config.modules).toEqual({
      connect_scanner: { timeout: '2s', retries: 2, ports: 'top-10' },
      constructor: { prototype: 'x' },
    });
    expect(origins.get('modules.connect_scanner.timeout')).toBe(`${named}:2:30`);
    expect(origins.get('modules.connect_scanner.retries')).toBe(`${user}:1:51`);
    expect(origins.get('modules.connect_scanner.ports')).toBe(
      'environment SERVICE_MODULES__CONNECT_SCANNER__PORTS',
    );
  });

  it('must be maps of plain values', () => {
    expect(folder.problemsOf('modules: {a: 5, __proto__: {b: 1}, c: {d: {e: 1}}}')).toEqual([
      'f:1:14 modules.a: must be a map of options, not 5',
      'f:1:28 modules.__proto__: must be a module type, not "__proto__"',
      'f:1:43 modules.c.d: must be a number, text, true, false or a list, not a map',
    ]);
  });
});

describe('remarks', () => {
  it('tell of keys that do nothing, unless they are set as the example file sets them', () => {
    const inert = (configKeys as readonly ConfigKey[]).find((key) => key.inert && key.type === 'bool');
    if (!inert) return;
    const name = environmentNames(inert)[0] as string;
    const usual = [inert.default, inert.shipped ?? inert.default];
    for (const value of [true, false]) {
      env[name] = String(value);
      const expected = usual.includes(value)
        ? []
        : [`environment ${name} ${inert.path}: has no effect in this build`];
      expect(folder.load().warnings).toEqual(expected);
    }
  });

  it('are loud about secrets that every user can read', () => {
    const path = folder.file('s.yaml', 'notifications: {email: {password: hunter2}}');
    const loud = () => folder.load({ file: path }).warnings.filter((text) => text.includes('EVERY USER'));
    chmodSync(path, 0o644);
    expect(loud()).toEqual([
      expect.stringContaining(`${path}: EVERY USER OF THIS MACHINE CAN READ THIS FILE`),
    ]);
    expect(loud()[0]).toContain('notifications.email.password');
    expect(loud()[0]).not.toContain('hunter2');
    chmodSync(path, 0o600);
    expect(loud()).toEqual([]);
    writeFileSync(path, 'notifications: {webhooks: [{name: a, url: "http://x", secret: "${S:-y}"}]}');
    chmodSync(path, 0o644);
    expect(loud()[0]).toContain('notifications.webhooks');
    writeFileSync(path, 'notifications: {email: {password: "${PASSWORD:-}"}}\nscanner: {rate: 5}');
    expect(loud()).toEqual([]);
  });

  it('never repeat a secret that is wrong', () => {
    env['SERVICE_QUEUE__URL'] = 'mysql://me:hunter2@db';
    env['SERVICE_PLUGINS__MANIFEST_URL'] = 'ftp://me:hunter2@db';
    expect(
      folder.problemsOf('notifications: {email: {password: {a: hunter2}}, webhooks: [hunter2]}').join(),
    ).not.toContain('hunter2');
  });
});

describe('interpolation', () => {
  it('fills ${NAME} and ${NAME:-default} once, and warns about an unset name', () => {
    env['BIND'] = '127.0.0.1:${PORT}';
    env['PORTS'] = '9';
    const path = folder.file(
      'i.yaml',
      'server:\n  workers: ${PORTS}\nscanner:\n  default_profile: "${P:-quick}${NONE}"\n',
    );
    const { config, warnings } = folder.load({ file: path });
    expect(config.server.workers).toBe(9);
    expect(config.scanner.default_profile).toBe('quick');
    expect(warnings.join()).toContain('scanner.default_profile: environment variable NONE is not set');
    expect(folder.problemsOf('server: { bind: "${BIND}" }').join()).toContain(
      'must be host:port, not "127.0.0.1:${PORT}"',
    );
  });
});
