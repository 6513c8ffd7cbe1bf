import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from './command.ts';

const home = new Home();
const config = home.file('portolan.yaml');
let licence = '';

const license = (args: string[], input?: string) =>
  home.run(['license', ...args, '--config', config, '--workspace-dir', home.file('ws')], {
    ...(input !== undefined && { input }),
  });
const issue = (...more: string[]) =>
  license([
    'issue',
    '--customer',
    'Acme',
    '--plan',
    'team',
    '--key',
    home.file('keys/license-private.pem'),
    ...more,
  ]);

beforeAll(async () => {
  const settings = { enforce: true, public_key: home.file('keys/license-public.pem') };
  writeFileSync(config, JSON.stringify({ license: settings }));
  expect((await license(['keygen', '-o', home.file('keys')])).code).toBe(0);
  const issued = await issue('--features', 'jobs, metrics', '--expiry', '365d');
  expect([issued.code, issued.stderr]).toEqual([0, expect.stringContaining('jobs, metrics')]);
  licence = issued.stdout.trim();
});
afterAll(() => home.remove());

const modeOf = (file: string) => statSync(home.file(file)).mode & 0o777;

/** The program is started many times. */
describe('portolan license', () => {
  it('makes keys for their owner only and never replaces some unasked', async () => {
    expect([modeOf('keys/license-private.pem'), modeOf('keys/license-public.pem')]).toEqual([0o600, 0o600]);
    const before = readFileSync(home.file('keys/license-private.pem'), 'utf8');
    const again = await license(['keygen', '-o', home.file('keys')]);
    expect([again.code, again.stdout]).toEqual([1, '']);
    expect(again.stderr).toContain('--force');
    expect(readFileSync(home.file('keys/license-private.pem'), 'utf8')).toBe(before);
  });

  it('prints a licence once, or writes it to a file of mode 0600', async () => {
    expect(licence).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    const written = await issue('--expiry', '1d', '-o', home.file('short.jwt'));
    expect([written.code, written.stdout]).toEqual([0, '']);
    expect(modeOf('short.jwt')).toBe(0o600);
    expect(written.stderr).not.toContain(readFileSync(home.file('short.jwt'), 'utf8').trim());
  });

  it('checks the order, and what is asked for', async () => {
    const bad = await issue('--expiry', 'tomorrow', '--features', 'job');
    expect(bad.code).toBe(2);
    expect(bad.stderr).toMatch(/did you mean jobs[\s\S]*expiry/);
    expect((await issue()).code).toBe(2);
    const keyless = [
      'issue',
      '--customer',
      'a',
      '--plan',
      'team',
      '--expiry',
      '1d',
      '--key',
      home.file('none'),
    ];
    expect((await license(keyless)).code).toBe(2);
  });

  it('refuses PDF without the feature, before a scan and of a stored one, and writes nothing', async () => {
    const place = ['--config', config, '--workspace-dir', home.file('ws')];
    const target = ['127.0.0.1', '--no-discover', '--ports', '9', '--timeout', '1s'];
    const file = home.file('report.pdf');
    const scan = await home.run(['scan', ...target, '-o', file, ...place]);
    expect([scan.code, scan.stderr]).toEqual([5, expect.stringContaining('license for pdf_reporter')]);
    const stored = await home.run(['scan', ...target, '--format', 'json', ...place]);
    const id: string = JSON.parse(stored.stdout).scan_id;
    const exported = await home.run(['workspace', 'export', id, '-o', file, ...place]);
    expect([exported.code, exported.stderr]).toEqual([
      5,
      expect.stringContaining('license for pdf_reporter'),
    ]);
    expect(() => statSync(file)).toThrow('ENOENT');
    const listed = await home.run(['workspace', 'list', '--format', 'json', ...place]);
    expect(JSON.parse(listed.stdout).total).toBe(1);
    const page = await home.run(['workspace', 'export', id, '-o', home.file('report.html'), ...place]);
    expect(page.code).toBe(0);
  });

  it('shows, installs and checks', async () => {
    const none = await license(['show', '--format', 'json']);
    expect(none.code).toBe(5);
    expect(JSON.parse(none.stdout)).toMatchObject({
      enforced: true,
      valid: false,
      plan: 'free',
      features: [],
    });

    const forged = `${licence.slice(0, -4)}AAAA`;
    expect((await license(['verify', '-'], forged)).code).toBe(5);
    const refused = await license(['install', '-'], forged);
    expect([refused.code, refused.stdout]).toEqual([5, '']);
    expect(refused.stderr).not.toContain(forged.slice(0, 20));
    expect(() => statSync(home.file('ws/config/license.key'))).toThrow('ENOENT');

    const good = await license(['verify', '-', '--format', 'json'], `${licence}\n`);
    expect(good.code).toBe(0);
    expect(JSON.parse(good.stdout)).toMatchObject({ valid: true, customer_id: 'Acme', plan: 'team' });

    const installed = await license(['install', '-'], `${licence}\n`);
    expect([installed.code, installed.stdout]).toEqual([0, '']);
    expect(modeOf('ws/config/license.key')).toBe(0o600);
    const shown = await license(['show', '--format', 'json']);
    expect(shown.code).toBe(0);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      plan: 'team',
      features: ['jobs', 'metrics'],
      notice: null,
    });
    const text = await license(['show']);
    expect(text.stdout).toContain('jobs, metrics');
    for (const { stdout, stderr } of [shown, text, good])
      expect(stdout + stderr).not.toContain(licence.slice(0, 40));
  });

  it('keeps multi-tenant mode from starting without a licence for it', async () => {
    const several = home.file('tenants.yaml');
    const multi = { multi_tenant: { enabled: true, tenants: ['acme'] } };
    writeFileSync(several, JSON.stringify({ ...JSON.parse(readFileSync(config, 'utf8')), ...multi }));
    const start = ['server', 'start', '--bind', '127.0.0.1:0', '--workspace-dir', home.file('ws')];
    const refused = await home.run([...start, '--config', several]);
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('multi_tenant')]);
  });

  it('tells a bad public key before anything starts', async () => {
    const broken = home.file('broken.yaml');
    const privateKey = home.file('keys/license-private.pem');
    writeFileSync(broken, JSON.stringify({ license: { enforce: true, public_key: privateKey } }));
    const start = ['server', 'start', '--bind', '127.0.0.1:0', '--workspace-dir', home.file('other')];
    const refused = await home.run([...start, '--config', broken]);
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('private key')]);
    rmSync(broken);
  });
});
