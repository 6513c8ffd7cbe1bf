import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PortolanError } from '../domain/errors.ts';
import type { ScanRequest } from '../domain/scan.ts';
import { writeFileAtomic } from './atomic-file.ts';
import { isOfThisPlace, processIdentity } from './process-identity.ts';
import { openWorkspace } from './workspace.ts';

const scanId = '20261006-143022-a1b2c3';
const asRoot = process.geteuid?.() === 0;

let temporary: string;
let dir: string;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'portolan-workspace-'));
  dir = join(temporary, 'deep', 'workspace');
});

afterEach(async () => {
  await rm(temporary, { recursive: true, force: true });
});

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

async function rejection(work: Promise<unknown>): Promise<PortolanError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PortolanError)) throw new Error(`no refusal but ${error}`);
  return error;
}

function request(): ScanRequest {
  return {
    scan_id: scanId,
    created_at: '2026-10-06T14:30:22.101Z',
    targets: ['10.0.0.0/24'],
    exclude: ['10.0.0.1'],
    profile: 'standard',
    vuln: true,
    notifications: ['slack://x'],
    name: 'n',
    tags: ['a'],
    ports: '22',
    rate: 1000,
    dag: null,
    pool: 'default',
    options: { timeout: '3s', discover: false },
    user: null,
  };
}

describe('opening', () => {
  it('creates a missing workspace for its owner only', async () => {
    const workspace = await openWorkspace(dir);
    expect(await modeOf(workspace.dir)).toBe(0o700);
    expect(await modeOf(join(workspace.dir, 'scans'))).toBe(0o700);
    expect(await modeOf(join(workspace.dir, 'workspace.version'))).toBe(0o600);
    expect(await readFile(join(dir, 'workspace.version'), 'utf8')).toBe('1\n');
    expect(await workspace.freeBytes()).toBeGreaterThan(0);
    await openWorkspace(dir);
  });

  it('tightens an empty folder and leaves the mode of a used one', async () => {
    await mkdir(dir, { recursive: true });
    await chmod(dir, 0o755);
    await openWorkspace(dir);
    expect(await modeOf(dir)).toBe(0o700);
    const used = join(temporary, 'used');
    await mkdir(used);
    await chmod(used, 0o755);
    await writeFile(join(used, 'file'), '');
    await openWorkspace(used);
    expect(await modeOf(used)).toBe(0o755);
  });

  it('resolves a link and judges where it leads', async () => {
    await mkdir(dir, { recursive: true });
    const link = join(temporary, 'link');
    await symlink(dir, link);
    expect((await openWorkspace(link)).dir).toBe((await openWorkspace(dir)).dir);
    await writeFile(join(temporary, 'file'), '');
    await symlink(join(temporary, 'file'), join(temporary, 'to-file'));
    expect((await rejection(openWorkspace(join(temporary, 'to-file')))).message).toContain(
      'a file of that name exists',
    );
    await symlink(join(temporary, 'nothing'), join(temporary, 'dangling'));
    expect((await rejection(openWorkspace(join(temporary, 'dangling')))).exitCode).toBe(3);
  });

  it('refuses a file, also above', async () => {
    await writeFile(join(temporary, 'file'), '');
    for (const path of [join(temporary, 'file'), join(temporary, 'file', 'workspace')]) {
      const error = await rejection(openWorkspace(path));
      expect(error.exitCode).toBe(3);
      expect(error.message).toContain('a file of that name exists');
    }
  });

  it('refuses a read-only folder, also as root', async () => {
    await mkdir(dir, { recursive: true });
    await chmod(dir, 0o500);
    expect((await rejection(openWorkspace(dir))).message).toContain('read-only');
  });

  it.runIf(asRoot)("refuses another user's folder", async () => {
    await mkdir(dir, { recursive: true });
    await chown(dir, 12345, 12345);
    const error = await rejection(openWorkspace(dir));
    expect(error.exitCode).toBe(3);
    expect(error.message).toContain('belongs to another user');
  });

  it('refuses a newer layout and a damaged version', async () => {
    await openWorkspace(dir);
    await writeFile(join(dir, 'workspace.version'), '2\n');
    expect((await rejection(openWorkspace(dir))).message).toContain('install a newer portolan');
    await writeFile(join(dir, 'workspace.version'), 'one');
    expect((await rejection(openWorkspace(dir))).message).toContain('damaged');
  });
});

describe('the lock', () => {
  it('goes to one of many that ask at once', async () => {
    const workspace = await openWorkspace(dir);
    const requested = await Promise.allSettled(
      Array.from({ length: 5 }, () => workspace.lock({ url: 'http://x' })),
    );
    const got = requested.filter((response) => response.status === 'fulfilled');
    expect(got).toHaveLength(1);
    await got[0]?.value.release();
    await got[0]?.value.release();
    expect(await workspace.lockHolder()).toBeNull();
    await (await workspace.lock({ url: 'http://y' })).release();
  });

  it('names its holder', async () => {
    const workspace = await openWorkspace(dir);
    const lock = await workspace.lock({ url: '' });
    await lock.setUrl('http://127.0.0.1:8080');
    const { pid, host } = processIdentity();
    expect(await workspace.lockHolder()).toEqual({ pid, host, url: 'http://127.0.0.1:8080' });
    const error = await rejection(workspace.lock({ url: '' }));
    expect(error).toMatchObject({ code: 'configuration', details: { pid, host } });
    expect(error.message).toContain(`process ${pid} on ${host}`);
    expect(await modeOf(join(dir, 'workspace.lock'))).toBe(0o600);
    expect(await modeOf(join(dir, '.workspace.guard'))).toBe(0o600);
    await lock.release();
  });

  it('of a living process holds, of a killed one is taken over by exactly one', async () => {
    const workspace = await openWorkspace(dir);
    const module = JSON.stringify(new URL('./workspace.ts', import.meta.url).href);
    const source = `
      import { openWorkspace } from ${module};
      await (await openWorkspace(${JSON.stringify(dir)})).lock({ url: 'http://child' });
      process.stdout.write('locked');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    expect(await workspace.lockHolder()).toMatchObject({ pid: child.pid, url: 'http://child' });
    expect((await rejection(workspace.lock({ url: '' }))).message).toContain(`process ${child.pid}`);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await workspace.lockHolder()).toBeNull();
    const requested = await Promise.allSettled([workspace.lock({ url: '' }), workspace.lock({ url: '' })]);
    const got = requested.filter((response) => response.status === 'fulfilled');
    expect(got).toHaveLength(1);
    await got[0]?.value.release();
  });

  it('holds when the machine has got another name, not for a process of another container', async () => {
    const workspace = await openWorkspace(dir);
    const store = (content: object) =>
      writeFile(join(dir, 'workspace.lock'), JSON.stringify({ url: '', ...content }));
    const own = processIdentity();
    await store({ ...own, host: 'renamed' });
    expect(await workspace.lockHolder()).toMatchObject({ pid: own.pid, host: 'renamed' });
    await store({ ...own, pid_namespace: 'pid:[1]' });
    expect(await workspace.lockHolder()).toBeNull();
    const { pid_namespace: _, ...older } = own;
    await store(older);
    expect(await workspace.lockHolder()).toMatchObject({ pid: own.pid });
    await store({ ...older, host: 'another' });
    expect(await workspace.lockHolder()).toBeNull();
  });

  it('of another boot belongs to the machine with its name', () => {
    const earlier = { ...processIdentity(), boot_id: 'another' };
    expect([isOfThisPlace(earlier), isOfThisPlace({ ...earlier, host: 'another' })]).toEqual([true, false]);
  });

  it.each([
    ['a process number that another process has now', { pid: process.ppid, start_ticks: '1' }],
    ['an earlier boot', { pid: process.ppid, boot_id: 'another' }],
    ['a process that is gone', { pid: 2 ** 30 }],
  ])('of %s is stale', async (_, stale) => {
    const workspace = await openWorkspace(dir);
    await writeFile(join(dir, 'workspace.lock'), JSON.stringify({ ...processIdentity(), url: '', ...stale }));
    expect(await workspace.lockHolder()).toBeNull();
    await (await workspace.lock({ url: '' })).release();
  });

  it('that is damaged does not hinder', async () => {
    const workspace = await openWorkspace(dir);
    await writeFile(join(dir, 'workspace.lock'), '{"pid":');
    await (await workspace.lock({ url: '' })).release();
  });
});

describe('a scan folder', () => {
  it.each(['..', '../x', '/etc/passwd', `${scanId}/..`, '', `${scanId}\0`, `${scanId}\n`, 'x'.repeat(5000)])(
    'is never built from %j',
    async (id) => {
      const workspace = await openWorkspace(dir);
      expect(() => workspace.scan(id)).toThrow(expect.objectContaining({ code: 'not_found' }));
    },
  );

  it('keeps the request in the shape of the contract', async () => {
    const folder = (await openWorkspace(dir)).scan(scanId);
    expect(await folder.exists()).toBe(false);
    expect(await folder.sizeBytes()).toBe(0);
    await folder.create(request());
    expect(await folder.request()).toEqual(request());
    const file = JSON.parse(await readFile(join(folder.path, 'request.json'), 'utf8'));
    expect(file).toMatchObject({
      scan_id: scanId,
      timestamp: '2026-10-06T14:30:22.101Z',
      options: { discover: false, vuln: true, rate: 1000, ports: '22' },
    });
    expect(await modeOf(folder.path)).toBe(0o700);
    expect(await modeOf(folder.reportsDir)).toBe(0o700);
    expect(await modeOf(join(folder.path, 'request.json'))).toBe(0o600);
    expect((await rejection(folder.create(request()))).code).toBe('conflict');
  });

  it('counts its bytes and goes wholly', async () => {
    const folder = (await openWorkspace(dir)).scan(scanId);
    await folder.create(request());
    const before = await folder.sizeBytes();
    await writeFile(join(folder.reportsDir, 'report.json'), 'x'.repeat(1000));
    await folder.writeStatus({ state: 'running' });
    expect(await folder.sizeBytes()).toBeGreaterThan(before + 1000);
    await folder.remove();
    await folder.remove();
    expect(await folder.exists()).toBe(false);
    expect(await readdir(join(dir, 'scans'))).toEqual([]);
  });

  it('says which request is damaged or missing', async () => {
    const folder = (await openWorkspace(dir)).scan(scanId);
    expect((await rejection(folder.request())).code).toBe('not_found');
    await folder.create(request());
    await writeFile(join(folder.path, 'request.json'), '{');
    expect((await rejection(folder.request())).message).toContain('damaged');
  });
});

describe('an atomic write', () => {
  it('leaves the old content and no rest when it fails', async () => {
    await mkdir(dir, { recursive: true });
    const path = join(dir, 'taken');
    await mkdir(path);
    await writeFile(join(path, 'inside'), '');
    await expect(writeFileAtomic(path, 'new')).rejects.toThrow();
    expect(await readdir(dir)).toEqual(['taken']);
  });
});
