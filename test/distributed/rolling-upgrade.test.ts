import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyDatabase, postgresObstacle } from '../postgres.ts';
import { root, ServerProcess } from '../program.ts';
import { Lab, rowsOf, sweep, until } from '../workers/cluster.ts';
import { WorkerProcess } from '../workers/worker-process.ts';

/** The last version whose workers sent rows to the server of a scan. */
const earlier = '2b49ac76';
const addresses = [1, 2, 3].map((last) => `127.86.30.${last}`);
const [ofPool, ofServer, ofNewcomers] = addresses as [string, string, string];
const portCount = 300;

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' });
const obstacle =
  spawnSync('git', ['cat-file', '-e', earlier], { cwd: root }).status === 0
    ? postgresObstacle()
    : 'needs the history of the repository';

describe.skipIf(obstacle !== null)(`an upgrade of one program after another ${obstacle ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-earlier-'));
  const checkout = join(folder, 'checkout');
  const program = join(checkout, 'bin/portolan');
  const started: { dispose(): Promise<void> }[] = [];
  let lab: Lab;
  let env: NodeJS.ProcessEnv;
  let url: string;

  beforeAll(async () => {
    git('worktree', 'add', '--detach', checkout, earlier);
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
    lab = await Lab.open(addresses, portCount);
    url = await emptyDatabase();
    env = { SERVICE_QUEUE__URL: url, SERVICE_WORKERS__LEASE: '5s', SERVICE_WORKERS__HEARTBEAT: '1s' };
  });
  afterAll(async () => {
    for (const one of started.splice(0)) await one.dispose();
    await lab?.dispose();
    git('worktree', 'remove', '--force', checkout);
    rmSync(folder, { recursive: true, force: true });
  });

  const server = async (of?: string): Promise<ServerProcess> => {
    const process = new ServerProcess({ env, ...(of !== undefined && { program: of }) });
    started.push(process);
    await process.start();
    return process;
  };
  const worker = async (of?: string): Promise<WorkerProcess> => {
    const process = new WorkerProcess(['--pool', 'lab', '--queue', url], env, of);
    started.push(process);
    return await process.start();
  };
  const begun = (from: number, count: number, host: string) =>
    until(`${count} connections`, () => lab.count(from, host) > count);
  const foundAll = async (at: ServerProcess, scanId: string, host: string) => {
    expect(await at.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    const rows = (await rowsOf(at, scanId)).filter(({ type }) => type === 'port');
    expect(rows.map((row) => `${row.host}:${row.port}`).sort()).toEqual(lab.pairs([host]));
  };

  it('loses nothing: scans of both versions run side by side, and those under way go on in the new one', async () => {
    const before = await server(program);
    const workerBefore = await worker(program);
    const from = performance.now();
    const [shared, own] = await Promise.all([
      sweep(before, lab.field, [ofPool], 8),
      sweep(before, lab.field, [ofServer], 8, { pool: 'default' }),
    ]);
    await Promise.all([begun(from, 30, ofPool), begun(from, 30, ofServer)]);

    const after = await server();
    const workerAfter = await worker();
    const fresh = await sweep(after, lab.field, [ofNewcomers], 100);
    await foundAll(after, fresh, ofNewcomers);
    // Each worker has the scans of servers of its own version only.
    expect([workerBefore.log.includes(fresh), workerAfter.log.includes(fresh)]).toEqual([false, true]);
    expect([workerBefore.log.includes(shared), workerAfter.log.includes(shared)]).toEqual([true, false]);

    await workerBefore.stop('SIGTERM');
    await before.stop('SIGTERM');
    // Nobody takes over what is on the disk of a server: it goes on where that starts again.
    before.program = join(root, 'bin/portolan');
    await before.start();
    await foundAll(after, shared, ofPool);
    await foundAll(before, own, ofServer);
    expect(workerAfter.log).toContain(shared);
    // What was found before is not looked for again.
    for (const host of [ofPool, ofServer])
      expect(lab.probedAgain(from, [host], Number.POSITIVE_INFINITY, 8).length).toBeLessThan(30);
  });
});
