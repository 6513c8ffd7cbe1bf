import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedScanId, storeScan } from '../../src/actions/fixtures/stored-scan.ts';
import { openStore } from '../../src/store/open.ts';
import { openWorkspace } from '../../src/workspace/workspace.ts';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';

const scans = 5;
// Every test runs several programs.

let home: Home;
let dir: string;

async function fill(place: string): Promise<void> {
  const workspace = await openWorkspace(place);
  const store = await openStore(workspace.storeFile);
  for (let number = 0; number < scans; number++) {
    const rules = { compress: number % 2 === 1, keep_artifacts: true };
    await storeScan({ store, workspace }, number, (number * 3) % 7, rules);
  }
  await store.close();
}

beforeAll(async () => {
  home = new Home();
  dir = home.file('ws');
  await fill(dir);
});

afterAll(() => {
  home.remove();
});

async function workspace(...args: string[]) {
  return await home.run(['workspace', ...args, '--workspace-dir', dir]);
}

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await workspace(...args, '--format', 'json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

it('init makes a workspace and leaves one that is there', async () => {
  const place = home.file('new');
  for (let times = 0; times < 2; times++) {
    const { code, stdout } = await home.run(['workspace', 'init', place]);
    expect(code).toBe(0);
    expect(stdout).toBe(`${place}\n`);
  }
  expect((await stat(place)).mode & 0o777).toBe(0o700);
  await writeFile(home.file('file'), '');
  expect((await home.run(['workspace', 'init', home.file('file')])).code).toBe(3);
});

describe('list', () => {
  const ids = async (...args: string[]) =>
    (await json<{ scans: { scan_id: string }[] }>('list', ...args)).scans.map(({ scan_id }) => scan_id);
  const ordered = (...numbers: number[]) => numbers.map(storedScanId);

  it.each<[string, number[]]>([
    ['newest', [4, 3, 2, 1, 0]],
    ['oldest', [0, 1, 2, 3, 4]],
    ['ports', [2, 4, 1, 3, 0]],
    ['name', [0, 1, 2, 3, 4]],
    ['status', [4, 3, 2, 1, 0]],
  ])('--sort %s', async (order, numbers) => {
    expect(await ids('--sort', order)).toEqual(ordered(...numbers));
  });

  it('takes its filters and refuses an unknown order', async () => {
    expect(await ids('--sort', 'ports', '--limit', '2')).toEqual(ordered(2, 4));
    expect(await ids('--since', '2026-01-01T00:03:00Z', '--sort', 'oldest')).toEqual(ordered(3, 4));
    expect(await ids('--status', 'failed')).toEqual([]);
    expect((await workspace('list', '--sort', 'size')).code).toBe(2);
    expect((await workspace('list', '--format', 'csv')).stdout.split('\r\n')).toHaveLength(scans + 2);
  });
});

it('stats counts by state, profile, kind and month', async () => {
  const figures = await json<Record<string, unknown>>('stats');
  expect(figures).toMatchObject({
    scan_count: scans,
    oldest_scan: '2026-01-01T00:00:00.000Z',
    by_status: { completed: { scans } },
    by_profile: { quick: { scans } },
    growth: [{ month: '2026-01', scans }],
    bytes_by_kind: { results: expect.any(Number), artifacts: expect.any(Number) },
  });
  const { bytes_by_kind, by_status } = figures as {
    bytes_by_kind: Record<string, number>;
    by_status: { completed: { bytes: number } };
  };
  const { results = 0, artifacts = 0, reports = 0, scan_state = 0 } = bytes_by_kind;
  expect(artifacts).toBeGreaterThan(0);
  expect(results + artifacts + reports + scan_state).toBe(by_status.completed.bytes);
  const text = await workspace('stats');
  expect(text.stdout).toContain('completed');
});

it('check tells of damage with exit code 1, and --fix mends it', async () => {
  expect(await workspace('check')).toMatchObject({ code: 0, stdout: '5 scans checked: no problems\n' });
  await rm(join(dir, 'scans', storedScanId(1), 'request.json'));
  const found = await workspace('check');
  expect(found.code).toBe(1);
  expect(found.stdout).toContain(`ERROR  scans/${storedScanId(1)}/request.json: is missing or damaged`);
  const fixed = await workspace('check', '--fix');
  expect(fixed.stdout).toContain(`fixed  scans/${storedScanId(1)}/request.json`);
  expect(fixed.code).toBe(0);
  expect((await workspace('check')).code).toBe(0);
  expect(await readdir(dir)).not.toContain('workspace.lock');
});

it('clean-cache empties the cache alone', async () => {
  await mkdir(join(dir, 'cache', 'dns'), { recursive: true });
  await writeFile(join(dir, 'cache', 'dns', 'names'), 'x'.repeat(1000));
  expect(await json('clean-cache', '--force')).toEqual({ removed: ['dns'], freed_bytes: 1000 });
  expect(await readdir(join(dir, 'cache'))).toEqual([]);
  expect(await readdir(join(dir, 'scans'))).toHaveLength(scans);
});

it('migrate copies the store when asked to, and tells the versions', async () => {
  const report = await json<{ layout: object; applied: string[]; backups: string[] }>('migrate', '--backup');
  expect(report).toMatchObject({
    layout: { from: 1, to: 1 },
    applied: [],
    backups: [expect.stringMatching(/^backups\//)],
  });
  const copy = join(dir, report.backups[0] as string);
  expect((await readdir(copy)).sort()).toEqual(['service.db', 'workspace.version']);
  // The copy is a workspace of its own as far as the list goes.
  const { stdout } = await home.run(['workspace', 'list', '--format', 'json', '--workspace-dir', copy]);
  expect(JSON.parse(stdout)).toMatchObject({ total: scans });
});

it('is named storage as well', async () => {
  const { code, stdout } = await home.run(['storage', 'info', '--format', 'json', '--workspace-dir', dir]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ scan_count: scans });
});

describe('with a server', () => {
  let server: InProcessServer;

  beforeAll(async () => {
    server = new InProcessServer();
    await fill(server.workspace);
    await server.start();
  });

  afterAll(async () => {
    await server.dispose();
  });

  const remote = (...args: string[]) =>
    home.run(['workspace', ...args, '--server', server.url, '--workspace-dir', home.file('unused')]);

  it('info, list and show ask it', async () => {
    expect(JSON.parse((await remote('info', '--format', 'json')).stdout)).toMatchObject({
      scan_count: scans,
    });
    const list = JSON.parse(
      (await remote('list', '--format', 'json', '--sort', 'ports', '--limit', '1')).stdout,
    );
    expect(list).toMatchObject({ total: scans, scans: [{ scan_id: storedScanId(2) }] });
    const shown = await remote('show', storedScanId(2), '--show-results', '--format', 'json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ scan_id: storedScanId(2), summary: { open_ports: 6 } });
    expect((await remote('show', storedScanId(2))).stdout).toContain('completed');
    expect((await remote('show', '20260101-000000-ffffff')).code).toBe(1);
  });

  it('delete and gc are done by it', async () => {
    expect((await remote('delete', storedScanId(0), '--force')).code).toBe(0);
    expect((await server.request(`/api/v1/scans/${storedScanId(0)}`)).status).toBe(404);
    const collected = await remote('gc', '--keep-last', '1', '--force', '--format', 'json');
    expect(JSON.parse(collected.stdout)).toMatchObject({ deleted_count: scans - 2, kept_count: 1 });
  });

  it('check looks while it runs, --fix and migrate leave it alone', async () => {
    const place = ['--workspace-dir', server.workspace];
    expect((await home.run(['workspace', 'check', ...place])).code).toBe(0);
    for (const command of [['check', '--fix'], ['migrate']]) {
      const { code, stderr } = await home.run(['workspace', ...command, ...place]);
      expect(code).toBe(3);
      expect(stderr).toContain(`process ${server.pid}`);
    }
  });
});
