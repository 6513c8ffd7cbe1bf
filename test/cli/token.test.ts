import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../program.ts';
import { Home } from './command.ts';

const home = new Home();
const config = home.file('portolan.yaml');
let server: ServerProcess;

beforeAll(async () => {
  const settings = {
    server: { api: { auth: true } },
    logging: {
      level: 'trace',
      audit: { enabled: true, events: ['api_access', 'config_change', 'user_login'] },
    },
  };
  writeFileSync(config, JSON.stringify(settings));
  server = new ServerProcess({ args: ['--config', config] });
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  home.remove();
});

const token = (...args: string[]) =>
  home.run(['server', 'token', ...args, '--config', config, '--workspace-dir', server.workspace]);
const create = async (...more: string[]) => {
  const { code, stdout, stderr } = await token('create', '--name', 'ci', '--scopes', 'scan:read', ...more);
  return { code, stderr, value: stdout.trim(), id: stdout.split('_')[1] ?? '' };
};
const statusWith = async (value: string) =>
  (await server.request('/api/v1/session', { method: 'POST', headers: { authorization: `Bearer ${value}` } }))
    .status;

/** Every file below the workspace of the server. */
function filesOfWorkspace(): string[] {
  const names = readdirSync(server.workspace, { recursive: true, withFileTypes: true });
  return names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** What `ps` shows of every process: its arguments and what it was told by its environment. */
function processTexts(): string {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return ids
    .flatMap((id) => ['cmdline', 'environ'].map((file) => readOrEmpty(`/proc/${id}/${file}`)))
    .join('\n');
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** The program is started many times. */
describe('a token', () => {
  it('is printed once and lies nowhere: only its digest is stored', async () => {
    const made = await create('--expiry', '90d');
    expect([made.code, made.value]).toEqual([0, expect.stringMatching(/^svc_[a-z0-9]+_[A-Za-z0-9_-]{43}$/)]);
    const secret = made.value.split('_').slice(2).join('_');
    expect(await statusWith(made.value)).toBe(200);
    expect(await statusWith(`${made.value.slice(0, -2)}zz`)).toBe(401);

    const rotated = (await token('rotate', made.id)).stdout.trim();
    const rotatedSecret = rotated.split('_').slice(2).join('_');
    await expect.poll(() => statusWith(rotated)).toBe(200);

    const outputs: string[] = [];
    for (const format of ['table', 'json', 'csv']) {
      outputs.push((await token('list', '--format', format)).stdout);
    }
    await sleep(300);
    const files = filesOfWorkspace();
    expect(files.map((file) => file.slice(server.workspace.length + 1))).toContain('service.db');
    const places = [
      ...files.map((file) => readFileSync(file, 'latin1')),
      ...outputs,
      made.stderr,
      server.log,
    ];
    for (const hidden of [secret, rotatedSecret]) {
      expect(places.filter((text) => text.includes(hidden))).toEqual([]);
      expect(processTexts()).not.toContain(hidden);
    }
    for (const file of files) expect([file, statSync(file).mode & 0o077]).toEqual([file, 0]);
  });

  it('is listed with what it may do and when it was used', async () => {
    const { id, value } = await create('--expires', '90d');
    expect(await statusWith(value)).toBe(200);
    const listed = async () =>
      JSON.parse((await token('list', '--format', 'json')).stdout).tokens.find(
        (one: { id: string }) => one.id === id,
      );
    await expect.poll(async () => (await listed()).last_used_at).not.toBeNull();
    expect(await listed()).toEqual({
      id,
      name: 'ci',
      scopes: ['scan:read'],
      tenant: null,
      created_at: expect.any(String),
      expires_at: expect.any(String),
      last_used_at: expect.any(String),
      status: 'active',
    });
    const csv = (await token('list', '--format', 'csv')).stdout;
    expect(csv.split('\r\n')[0]).toBe('id,name,scopes,created_at,expires_at,last_used_at,status,tenant');
    expect((await token('list')).stdout).toMatch(new RegExp(`^${id} +active .* ci +scan:read`, 'm'));
  });

  it('is refused within 2 s once it is revoked', async () => {
    const revoked = await create('--expiry', '1h');
    expect(await statusWith(revoked.value)).toBe(200);
    expect((await token('revoke', revoked.id)).code).toBe(0);
    await expect.poll(() => statusWith(revoked.value), { interval: 100 }).toBe(401);
  });

  it('is revoked as the last one of an administrator with --force only', async () => {
    const made = await token('create', '--name', 'boss', '--scopes', 'admin', '--expiry', '1h');
    const id = made.stdout.split('_')[1] as string;
    const refused = await token('revoke', id);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/last active one with the scope admin.*force/);
    expect((await token('revoke', id, '--force')).code).toBe(0);
    expect((await token('revoke', id)).code).toBe(0);
  });

  it('keeps its old value for the grace time of a rotation only', async () => {
    const { id, value } = await create('--expiry', '1h');
    const next = (await token('rotate', id, '--grace', '1h')).stdout.trim();
    await expect.poll(() => statusWith(next)).toBe(200);
    expect(await statusWith(value)).toBe(200);
    const db = new DatabaseSync(join(server.workspace, 'service.db'));
    const { previous_until } = db.prepare('select previous_until from tokens where id = ?').get(id) as {
      previous_until: string;
    };
    expect(Math.abs(Date.parse(previous_until) - Date.now() - 3_600_000)).toBeLessThan(600_000);
    const past = new Date(Date.now() - 1000).toISOString();
    db.prepare('update tokens set previous_until = ? where id = ?').run(past, id);
    db.close();
    await expect.poll(() => statusWith(value), { interval: 200 }).toBe(401);
    expect(await statusWith(next)).toBe(200);
  });

  it('is not made of what nobody knows, and tells what is unwise', async () => {
    const unknown = await token('create', '--name', 'x', '--scopes', 'scan:read,scan:fly', '--expiry', '1h');
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toContain('scan:fly');
    expect((await token('create', '--name', 'x', '--scopes', 'admin', '--expiry', '90')).code).toBe(2);
    expect((await create('--tenant', 'Acme Ltd')).code).toBe(2);
    expect((await create()).stderr).toContain('warning: the token never expires');
    expect((await create('--tenant', 'acme')).stderr).toContain('warning: multi_tenant.enabled');
    expect((await token('revoke', 'nobody')).code).toBe(1);
  });

  it('is for a tenant that exists', async () => {
    const several = home.file('tenants.yaml');
    writeFileSync(several, JSON.stringify({ multi_tenant: { enabled: true, tenants: ['acme', 'globex'] } }));
    const order = ['server', 'token', 'create', '--name', 't', '--scopes', 'scan:read', '--expiry', '1h'];
    const place = ['--config', several, '--workspace-dir', home.file('tenants')];
    const make = (...more: string[]) => home.run([...order, ...more, ...place]);
    const wrong = await make('--tenant', 'acmee');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean acme')]);
    const { stdout, code } = await make('--tenant', 'acme');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^svc_/)]);
    expect((await make()).stderr).toContain('cannot read the scans of any tenant');
  });
});
