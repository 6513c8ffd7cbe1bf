import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyDatabase, postgresObstacle, runStatements } from '../postgres.ts';
import { loopbackOnly, root } from '../program.ts';
import { Cluster } from './cluster.ts';

interface Run {
  code: number;
  out: string;
  err: string;
}

/** Nobody listens there. */
const nowhere = 'postgres://portolan@127.0.0.1:1/none';

describe.skipIf(postgresObstacle() !== null)('the command line beside a database of servers', () => {
  let cluster: Cluster;
  const folders: string[] = [];

  beforeAll(async () => {
    cluster = new Cluster(await emptyDatabase());
    await cluster.server.start();
  });

  afterAll(async () => {
    await cluster?.dispose();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const workspace = () => {
    const folder = mkdtempSync(join(tmpdir(), 'portolan-cli-'));
    folders.push(folder);
    return folder;
  };
  const run = (dir: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Run> => {
    const program = [join(root, 'bin/portolan'), ...args, '--workspace-dir', dir];
    const all = {
      ...process.env,
      ...loopbackOnly,
      XDG_CONFIG_HOME: dir,
      SERVICE_QUEUE__URL: cluster.url,
      ...env,
    };
    return new Promise((resolve) => {
      execFile(process.execPath, program, { env: all, timeout: 30_000 }, (error, out, err) =>
        resolve({ code: error ? Number(error.code ?? -1) : 0, out, err }),
      );
    });
  };

  it('lists workers: those at work, those that fell silent, and none that said goodbye', async () => {
    const dir = workspace();
    const list = async () => {
      const { out } = await run(dir, ['worker', 'list', '--format', 'json']);
      const workers = JSON.parse(out) as {
        worker_id: string;
        state: string;
        tags: string[];
        pools: string[];
      }[];
      return workers.filter(({ pools }) => pools.includes('lab'));
    };
    const [first, second] = [await cluster.worker(['--tags', 'dmz,rack-4']), await cluster.worker()];
    const byPid = async (pid: number) =>
      (await list()).find(({ worker_id }) => worker_id.includes(`:${pid}:`));
    expect(await byPid(first.pid)).toMatchObject({ state: 'idle', tags: ['dmz', 'rack-4'], pools: ['lab'] });
    const table = await run(dir, ['worker', 'list']);
    expect(table.out).toMatch(/^WORKER +STATE +SHARDS +SEEN +VERSION +POOLS +TAGS\n/);
    expect(table.out).toMatch(/ idle +0\/\d+ +(?:now|\d s ago) +\S+ +lab +dmz,rack-4\n/);
    const { pid } = second;
    expect(await first.stop()).toBe(0);
    await second.stop('SIGKILL');
    expect((await byPid(pid))?.state).toBe('idle');
    // Its last sign of life ages at once, so that the test need not wait until it has.
    await runStatements(cluster.url, [
      `update portolan.workers set last_seen = last_seen - 15000 where worker_id like '%:${pid}:%'`,
    ]);
    expect((await byPid(pid))?.state).toBe('silent');
    expect(await list()).toHaveLength(1);
  });

  it('refuses what no worker can be started with, each with its exit code', async () => {
    const dir = workspace();
    const refused = [
      { args: ['--queue', 'mysql://db/x'], code: 3, says: /must be a URL such as postgres:/ },
      { args: ['--queue', 'service.db'], code: 3, says: /must be a URL such as postgres:/ },
      { args: ['--queue', `${cluster.url}-not-there`], code: 3, says: /refuses: database .* does not exist/ },
      { args: ['--pool', 'My Pool'], code: 2, says: /--pool: invalid pool name "My Pool"/ },
      { args: ['--tags', 'a,b c'], code: 2, says: /--tags: "b c" is not a label/ },
      { args: ['--concurrency', '0'], code: 2, says: /whole number from 1 to 1024/ },
      {
        args: ['--queue', 'service.db', '--server', 'http://a'],
        code: 3,
        says: /--server and --ca-file have no effect/,
      },
    ];
    const starts = refused.map(async ({ args, code, says }) => {
      const ended = await run(dir, ['worker', 'start', ...args]);
      expect({ args, code: ended.code, err: ended.err }).toMatchObject({ args, code });
      expect(ended.err).toMatch(says);
      expect(ended.err).not.toContain('    at ');
    });
    await Promise.all(starts);
    const listed = { SERVICE_WORKERS__POOLS: '{"dmz": {}}' };
    const typo = await run(dir, ['worker', 'start', '--pool', 'dmx'], listed);
    expect([typo.code, typo.err]).toEqual([
      2,
      'portolan: --pool: unknown pool "dmx"; valid names: default, dmz\n',
    ]);
    for (const command of ['start', 'list']) {
      const none = await run(dir, ['worker', command], { SERVICE_QUEUE__URL: '' });
      expect([none.code, none.err]).toEqual([3, expect.stringMatching(/queue\.url/)]);
    }
    expect(await run(dir, ['worker', 'list', '--queue', nowhere])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/cannot be reached/),
    });
  });

  it('scans by itself where no server runs, and the scan is listed with all others', async () => {
    const dir = workspace();
    const scan = ['scan', '127.0.0.1', '--ports', '1-20', '--quiet', '--format', 'json'];
    const made = await run(dir, scan);
    expect(made.code, made.err).toBe(0);
    const { scan_id } = JSON.parse(made.out) as { scan_id: string };
    expect(existsSync(join(dir, 'service.db'))).toBe(false);
    const shown = await cluster.server.detail(scan_id);
    expect(shown).toMatchObject({ status: 'completed', results: { live_hosts: 1 } });
    for (const args of [['list'], ['show', scan_id], ['export', scan_id], ['check']]) {
      const ended = await run(dir, ['workspace', ...args]);
      expect({ args, code: ended.code, err: ended.err }).toEqual({ args, code: 0, err: '' });
      if (args[0] !== 'check') expect(ended.out).toContain(scan_id);
      else expect(ended.out).toBe('1 scan checked: no problems\n');
    }
    const elsewhere = await run(workspace(), ['workspace', 'export', scan_id]);
    expect([elsewhere.code, elsewhere.out]).toEqual([1, '']);
    expect(elsewhere.err).toMatch(/results of the scan .* are not in this workspace/);
    const deleted = await run(dir, ['workspace', 'delete', scan_id]);
    expect([deleted.code, deleted.err]).toEqual([3, expect.stringMatching(/run this on a server/)]);
    const jobs = await run(dir, ['job', 'list']);
    expect([jobs.code, jobs.err]).toEqual([4, expect.stringMatching(/no server runs on this workspace/)]);

    const away = await run(dir, scan, { SERVICE_QUEUE__URL: nowhere });
    expect([away.code, away.err]).toEqual([1, expect.stringMatching(/cannot be reached/)]);
    expect((await run(dir, [...scan, '--no-workspace'], { SERVICE_QUEUE__URL: nowhere })).code).toBe(0);
  });
});
