import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Job } from '../../src/domain/job.ts';
import { ServerProcess } from '../program.ts';
import { Home } from './command.ts';
import { freePort, Listeners } from './listeners.ts';

const home = new Home();
const server = new ServerProcess({ args: ['--workers', '2'] });
let closed = 0;

beforeAll(async () => {
  closed = await freePort();
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  home.remove();
});

/** On the server that holds the workspace, which is found by its lock. */
const run = (...args: string[]) => home.run([...args, '--workspace-dir', server.workspace]);

async function jobOf(id: string): Promise<Job> {
  const { stdout } = await run('job', 'show', id, '--format', 'json');
  return JSON.parse(stdout) as Job;
}

async function until(id: string, done: (job: Job) => boolean): Promise<Job> {
  for (const end = performance.now() + 60_000; ; ) {
    const { body } = await server.request(`/api/v1/jobs/${id}`);
    const job = (body as { data: Job }).data;
    if (done(job)) return job;
    if (performance.now() > end) throw new Error(`the job is ${JSON.stringify(job)}`);
    await sleep(100);
  }
}

const submit = async (...args: string[]): Promise<Job> => {
  const { code, stdout, stderr } = await run('job', 'submit', '--format', 'json', ...args);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Job;
};

describe('portolan job', () => {
  it('submits a job that runs at once, to its end', async () => {
    const job = await submit('127.0.0.1', '--ports', String(closed), '--profile', 'quick', '--name', 'now');
    expect(job).toMatchObject({
      schedule: null,
      name: 'now',
      params: { targets: ['127.0.0.1'] },
      run_count: 1,
    });
    const ended = await until(job.job_id, ({ completed_at }) => completed_at !== null);
    expect(ended).toMatchObject({ status: 'completed', progress: 100, runs: [{ status: 'completed' }] });
    const shown = await run('job', 'show', job.job_id);
    expect([shown.code, shown.stdout]).toEqual([
      0,
      expect.stringContaining(`run       ${job.scan_id} completed`),
    ]);
    const start = await run('job', 'show', job.job_id.slice(0, -2), '--format', 'json');
    expect(JSON.parse(start.stdout)).toMatchObject({ job_id: job.job_id });
    const again = await run('job', 'cancel', job.job_id);
    expect([again.code, again.stdout]).toEqual([1, '']);
  });

  it('prints the next three times, and the reason for a bad schedule', async () => {
    const good = await run('job', 'submit', '127.0.0.1', '--schedule', '0 2 * * *');
    expect([good.code, good.stderr]).toEqual([0, '']);
    expect(good.stdout.match(/^next +[A-Z][a-z]{2} \d+(?: \d+)?, 02:00 UTC, in \d+ \w+$/gm)).toHaveLength(3);
    for (const bad of ['60 * * * *', '*/0 * * * *', '0 0 2 * * *', '@reboot']) {
      const { code, stdout, stderr } = await run('job', 'submit', '127.0.0.1', '--schedule', bad);
      expect([bad, code, stdout]).toEqual([bad, 2, '']);
      expect(stderr).toMatch(/schedule: \S+ \S+/);
    }
  });

  it('names what nobody knows in a file of fields', async () => {
    const file = home.file('typo.json');
    writeFileSync(file, JSON.stringify({ targets: ['127.0.0.1'], prots: '22' }));
    const { code, stderr } = await run('job', 'submit', '--params', file, '--schedule', '@yearly');
    expect([code, stderr]).toEqual([0, 'warning: unknown field: params.prots; did you mean params.ports?\n']);
  });

  it('takes the fields of a scan from a file', async () => {
    const file = home.file('scan.json');
    writeFileSync(
      file,
      JSON.stringify({ targets: ['127.0.0.1'], profile: 'quick', options: { retries: 2 } }),
    );
    const job = await submit(
      '--params',
      file,
      '--ports',
      '9',
      '--max-duration',
      '5m',
      '--schedule',
      '@weekly',
    );
    expect(job.params).toEqual({
      targets: ['127.0.0.1'],
      profile: 'quick',
      ports: '9',
      options: { retries: 2, max_duration: '5m' },
    });
    writeFileSync(file, '[1]');
    const { code, stderr } = await run('job', 'submit', '--params', file);
    expect([code, stderr]).toEqual([2, expect.stringContaining('not a JSON object')]);
  });

  it('lists jobs as a table, JSON and CSV', async () => {
    const table = await run('job', 'list');
    expect(table.stdout.split('\n')[0]).toMatch(/^ID +STATUS +SCHEDULE +NEXT +LAST +RUNS/);
    const { jobs, total } = JSON.parse((await run('job', 'list', '--format', 'json', '--limit', '1')).stdout);
    expect([jobs.length, total > 1]).toEqual([1, true]);
    const csv = await run('job', 'list', '--format', 'csv', '--status', 'pending');
    expect(csv.stdout).toMatch(/^job_id,status,schedule,.*\r\njob-[0-9a-f]+,pending,/);
  });

  it('lists how many findings of the last run are new', async () => {
    const listeners = new Listeners();
    try {
      let version = 'OpenSSH_10.2';
      const port = await listeners.serve((socket) => {
        socket.write(`SSH-2.0-${version}\r\n`);
        socket.once('data', () => socket.end());
      });
      const again = ['127.0.0.1', '--ports', String(port), '--vuln', '--name', 'again'];
      await until((await submit(...again)).job_id, ({ completed_at }) => completed_at !== null);
      expect((await run('job', 'list')).stdout).toMatch(/ completed, (?:now|\d+ \w+ ago) +1 +again$/m);
      version = 'OpenSSH_8.9p1';
      await until((await submit(...again)).job_id, ({ completed_at }) => completed_at !== null);
      const list = async () => (await run('job', 'list')).stdout;
      await expect.poll(list).toMatch(/ completed, \d+ new, (?:now|\d+ \w+ ago) +1 +again$/m);
    } finally {
      listeners.close();
    }
  });

  it('cancels a job and the scan that it runs', async () => {
    const job = await submit('127.8.0.0/24', '--rate', '1', '--ports', '9', '--dag', 'port-scan');
    await until(job.job_id, ({ status }) => status === 'running');
    const { code, stdout } = await run('job', 'cancel', job.job_id);
    expect([code, stdout]).toEqual([0, `${job.job_id} canceled\n`]);
    expect(await server.detail(job.scan_id ?? '')).toMatchObject({
      status: 'failed',
      error: { code: 'canceled' },
    });
    expect((await run('job', 'cancel', job.job_id)).code).toBe(0);
  });

  it('without a server ends with exit code 4', async () => {
    for (const args of [['submit', '127.0.0.1'], ['list'], ['show', 'job-ffff'], ['cancel', 'job-ffff']]) {
      const { code, stdout, stderr } = await home.run(['job', ...args]);
      expect([args[0], code, stdout]).toEqual([args[0], 4, '']);
      expect(stderr).toContain('no server');
    }
    expect((await run('job', 'show', 'job-ffffffff')).code).toBe(1);
  });
});

describe('portolan scan --schedule', () => {
  it('makes a job of the scan and prints its next three times', async () => {
    const args = [
      '127.0.0.1',
      '--ports',
      '9',
      '--scan-name',
      'mine',
      '--pool',
      'far',
      '--schedule',
      '@daily',
    ];
    const { code, stdout } = await run('scan', ...args);
    expect(code).toBe(0);
    expect(stdout.match(/^next +.*, 00:00 UTC, in \d+ \w+$/gm)).toHaveLength(3);
    const id = /^job +(job-\w+)$/m.exec(stdout)?.[1] ?? '';
    expect(await jobOf(id)).toMatchObject({
      schedule: '@daily',
      pool: 'far',
      name: 'mine',
      params: { targets: ['127.0.0.1'], ports: '9', name: 'mine' },
    });
  });

  it.each([
    ['-o', 'x.json'],
    ['--dry-run'],
    ['--compare-with', '20260101-000000-abcdef'],
    ['--format', 'csv'],
  ])('with %s is refused: there is no result yet', async (...flags) => {
    const { code, stdout } = await run('scan', '127.0.0.1', '--schedule', '@daily', ...flags);
    expect([code, stdout]).toEqual([2, '']);
  });
});

describe('a job over a restart', () => {
  it('stays, and runs once for all the times that were missed', async () => {
    const job = await submit(
      '127.0.0.1',
      '--ports',
      String(closed),
      '--profile',
      'quick',
      '--schedule',
      '0 2 * * *',
    );
    await server.stop('SIGKILL');
    const missed = new Date(Date.now() - 5 * 86_400_000).toISOString();
    const db = new DatabaseSync(join(server.workspace, 'service.db'));
    db.prepare('update client_jobs set next_run_at = ? where job_id = ?').run(missed, job.job_id);
    db.close();
    await server.start();
    const ended = await until(job.job_id, ({ last_status }) => last_status !== null);
    expect(ended).toMatchObject({
      status: 'pending',
      last_status: 'completed',
      run_count: 1,
      next_run_at: job.next_run_at,
      runs: [{ status: 'completed' }],
    });
    await server.stop();
    await server.start();
    await sleep(1500);
    expect(await jobOf(job.job_id)).toEqual(ended);
  });
});
