import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Home } from './command.ts';
import { Listeners } from './listeners.ts';

const home = new Home();
const listeners = new Listeners();
afterAll(() => {
  listeners.close();
  home.remove();
});

const workspace = home.file('ws');
const env = { SERVICE_LOGGING__AUDIT__ENABLED: 'true' };
const fingerprint = (args: string[], input?: string) =>
  home.run(['fingerprint', ...args, '--workspace-dir', workspace], {
    env,
    ...(input !== undefined && { input }),
  });
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await fingerprint([...args, '--format', 'json']);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
};

const houseRules = `
- id: house.server
  description: The server of the house
  category: house
  tags: [own]
  service: house
  source: banner.raw
  pattern: '^HOUSE-MADE (\\d+\\.\\d+)(?: on (\\w+))?'
  product: House Server
  vendor: house
  version: '{1}'
  certainty: 0.9
  hardware: { type: nas, product: 'Model {2}' }
  facts: { owner: '{2}' }
  examples:
    - { text: HOUSE-MADE 4.2 on X9, version: '4.2', hardware: nas Model X9, facts: { owner: X9 } }
`;
writeFileSync(home.file('house.yaml'), houseRules);

const database = `<?xml version="1.0"?>
<fingerprints matches="ssh.banner" protocol="ssh">
  <fingerprint pattern="^GadgetSSH_(\\d+)$">
    <description>Gadget</description>
    <example service.version="7">GadgetSSH_7</example>
    <param pos="0" name="service.product" value="Gadget SSH"/>
    <param pos="1" name="service.version"/>
  </fingerprint>
</fingerprints>
`;
writeFileSync(home.file('ssh.xml'), database);
const installed = () => `${workspace}/config/fingerprints`;

/** The program is started many times. */
describe('portolan fingerprint', () => {
  it('shows the builtin rules on a machine without anything', async () => {
    const { signatures, total } = await json('list', '--search', 'OPENSSH');
    expect([signatures.length, signatures.every(({ set }: { set: string }) => set === 'builtin')]).toEqual([
      total,
      true,
    ]);
    expect((await json('list', '--category', 'web')).total).toBeGreaterThan(20);
    expect((await json('list', '--category', 'nonsense')).total).toBe(0);
    expect((await json('show', 'ssh.openssh')).rules[0]).toMatchObject({
      set: 'builtin',
      product: 'OpenSSH',
    });
    expect(await json('stats')).toMatchObject({
      catalogue_version: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      sets: [{ name: 'builtin' }],
      problems: [],
    });
    const missing = await fingerprint(['show', 'no.such']);
    expect([missing.code, missing.stdout]).toEqual([1, '']);
    expect(existsSync(workspace)).toBe(false);
  });

  it('checks files of rules with their examples', async () => {
    expect(await json('validate', home.file('house.yaml'))).toMatchObject({
      valid: true,
      signatures: 1,
      examples: 1,
    });
    expect(await json('validate', home.file('ssh.xml'))).toMatchObject({ valid: true, signatures: 1 });
    writeFileSync(home.file('bad.yaml'), houseRules.replace("version: '4.2'", "version: '4.3'"));
    const bad = await fingerprint(['validate', home.file('bad.yaml')]);
    expect([bad.code, bad.stdout]).toEqual([3, '']);
    expect(bad.stderr).toMatch(/bad\.yaml:2: examples "HOUSE-MADE 4\.2 on X9" gives version 4\.2, not 4\.3/);
    expect((await fingerprint(['validate', home.file('none.yaml')])).code).toBe(2);
  });

  it('tells what rules read out of a sample', async () => {
    const found = await fingerprint(
      ['test', home.file('house.yaml'), '-', '--format', 'json'],
      'HOUSE-MADE 1.0 on X9\r\n',
    );
    expect(found.code).toBe(0);
    expect(JSON.parse(found.stdout).matches).toMatchObject([
      { rule: 'house.server', evidence: 'banner.raw', version: '1.0' },
    ]);
    const builtin = await fingerprint(['test', 'builtin', '-'], 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n');
    expect([builtin.code, builtin.stdout]).toEqual([0, expect.stringContaining('OpenSSH')]);
    writeFileSync(home.file('server.txt'), 'nginx/1.22.1');
    const header = await fingerprint([
      'test',
      'builtin',
      home.file('server.txt'),
      '--evidence',
      'http.header.server',
    ]);
    expect([header.code, header.stdout]).toEqual([0, expect.stringContaining('1.22.1')]);
    const nothing = await fingerprint(['test', home.file('house.yaml'), '-'], '\x1b[2Jnothing');
    expect([nothing.code, nothing.stdout]).toEqual([1, '']);
    expect((await fingerprint(['test', home.file('house.yaml'), home.file('none')])).code).toBe(2);
  });

  it('uses a set that was added in every scan, until it is removed', async () => {
    const added = await json('add', home.file('house.yaml'));
    expect(added).toMatchObject({ set: { name: 'house', origin: 'added', signatures: 1 }, examples: 1 });
    expect(readdirSync(installed())).toEqual(['house.rules']);
    expect(statSync(`${installed()}/house.rules`).mode & 0o777).toBe(0o600);
    const again = await fingerprint(['add', home.file('house.yaml')]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('--force')]);

    const port = await listeners.greet('HOUSE-MADE 4.2 on X9\r\n');
    const scan = () =>
      home.run([
        'scan',
        '127.0.0.1',
        '--ports',
        String(port),
        '--timeout',
        '1s',
        '--format',
        'json',
        '--workspace-dir',
        workspace,
      ]);
    const result = JSON.parse((await scan()).stdout);
    expect(result.results[0].ports[0].service).toMatchObject({ product: 'House Server', version: '4.2' });
    expect(result.summary.catalogue_version).toBe(`${(await json('stats')).catalogue_version}`);
    expect(result.summary.catalogue_version).toContain(`+house@${added.set.sha256.slice(0, 8)}`);

    expect((await fingerprint(['remove', 'house'])).code).toBe(0);
    expect((await fingerprint(['remove', 'house'])).code).toBe(1);
    expect((await fingerprint(['remove', '../house'])).code).toBe(2);
    expect(JSON.parse((await scan()).stdout).results[0].ports[0].service?.product).not.toBe('House Server');
  });

  it('refuses a broken file whole: what is in force stays', async () => {
    await json('import', home.file('ssh.xml'), '--name', 'shells');
    const before = readFileSync(`${installed()}/shells.rules`);
    writeFileSync(home.file('torn.xml'), database.slice(0, -30));
    const torn = await fingerprint([
      'import',
      home.file('ssh.xml'),
      home.file('torn.xml'),
      '--name',
      'shells',
      '--force',
    ]);
    expect([torn.code, torn.stderr]).toEqual([3, expect.stringMatching(/torn\.xml:\d+: /)]);
    expect(readFileSync(`${installed()}/shells.rules`)).toEqual(before);
    expect(readdirSync(installed()).filter((name) => name.includes('shells'))).toEqual(['shells.rules']);
    const twice = await fingerprint([
      'import',
      home.file('ssh.xml'),
      home.file('ssh.xml'),
      '--name',
      'other',
    ]);
    expect([twice.code, twice.stderr]).toEqual([3, expect.stringContaining('used twice')]);
  });

  it('leaves a damaged set out and says so, in a scan as well', async () => {
    writeFileSync(`${installed()}/shells.rules`, 'torn');
    const listed = await fingerprint(['stats', '--format', 'json']);
    expect([listed.code, listed.stderr]).toEqual([0, expect.stringContaining('shells.rules is damaged')]);
    expect(JSON.parse(listed.stdout).problems).toHaveLength(1);
    const port = await listeners.greet('SSH-2.0-OpenSSH_9.2p1\r\n');
    const args = [
      'scan',
      '127.0.0.1',
      '--ports',
      String(port),
      '--timeout',
      '1s',
      '--format',
      'json',
      '--workspace-dir',
      workspace,
    ];
    const result = JSON.parse((await home.run(args)).stdout);
    expect(result.results[0].ports[0].service.product).toBe('OpenSSH');
    expect(result.warnings).toContainEqual(expect.objectContaining({ code: 'fingerprint_rules_refused' }));
    expect(await fingerprint(['remove', 'shells'])).toMatchObject({ code: 0 });
  });

  it('syncs from a file, and contacts nobody without an address', async () => {
    const nowhere = await fingerprint(['sync']);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('fingerprint.cache.url')]);
    expect(await json('sync', '--file', home.file('ssh.xml'))).toMatchObject({
      state: 'updated',
      set: { signatures: 1 },
    });
    expect((await json('list', '--search', 'gadget')).signatures).toMatchObject([{ set: 'synced' }]);
    expect((await fingerprint(['sync', '--no-workspace', '--file', home.file('ssh.xml')])).code).toBe(2);
    expect((await fingerprint(['sync', '--url', 'ftp://127.0.0.1/x'])).code).toBe(2);
    expect((await fingerprint(['sync', '--url', 'http://127.0.0.1:1/x'])).code).toBe(4);
    const audit = readdirSync(`${workspace}/audit`)
      .map((file) => readFileSync(`${workspace}/audit/${file}`, 'utf8'))
      .join('');
    expect(audit).toContain('"operation":"fingerprint.sync"');
  });
});
