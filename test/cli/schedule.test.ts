import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Job } from '../../src/domain/job.ts';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';

const home = new Home();
const server = new InProcessServer({ workers: 1 });
const empty = new InProcessServer();

beforeAll(async () => {
  await Promise.all([server.start(), empty.start()]);
});
afterAll(async () => {
  await Promise.all([server.dispose(), empty.dispose()]);
  home.remove();
});

/** On the server that holds the workspace, which is found by its lock. */
const list = (...flags: string[]) =>
  home.run(['schedule', 'list', ...flags, '--workspace-dir', server.workspace]);

async function listed(...flags: string[]): Promise<Job[]> {
  const { code, stdout, stderr } = await list('--format', 'json', ...flags);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return (JSON.parse(stdout) as { jobs: Job[] }).jobs;
}

const namesOf = (jobs: readonly Job[]) => jobs.map(({ name }) => name);

async function submit(name: string, schedule: string | undefined, pool = 'default'): Promise<Job> {
  const params = { targets: ['127.0.0.1'], ports: '9', profile: 'quick' };
  const { status, body } = await server.request('/api/v1/jobs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'scan', params, name, schedule, pool }),
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return (body as { data: Job }).data;
}

describe('portolan schedule list', () => {
  let canceled: Job;

  beforeAll(async () => {
    await submit('leap', '0 0 29 2 *');
    await submit('hourly', '@hourly');
    await submit('once', undefined);
    await submit('monthly', '@monthly', 'far');
    canceled = await submit('gone', '@weekly');
    await server.request(`/api/v1/jobs/${canceled.job_id}/cancel`, { method: 'POST' });
  });

  it('shows the jobs that recur, the next to run first', async () => {
    expect(namesOf(await listed())).toEqual(['hourly', 'monthly', 'leap']);
    expect(namesOf(await listed('--pool', 'far'))).toEqual(['monthly']);
  });

  it('shows those that have ended too, at the end', async () => {
    const jobs = await listed('--all');
    expect(namesOf(jobs)).toEqual(['hourly', 'monthly', 'leap', 'gone']);
    expect(jobs.at(-1)).toMatchObject({ job_id: canceled.job_id, status: 'canceled', next_run_at: null });
  });

  it('is a table or CSV', async () => {
    const table = await list();
    expect(table.stdout).toMatch(/^ID +NAME +SCHEDULE +NEXT +LAST +POOL +TARGETS\njob-\w+ +hourly +@hourly /);
    expect(table.stdout.trimEnd().split('\n')).toHaveLength(4);
    const csv = await list('--format', 'csv');
    expect(csv.stdout).toMatch(/^job_id,status,.*\r\njob-\w+,pending,hourly,'@hourly,\d{4}-/);
  });

  it('goes on to the last page', async () => {
    await Promise.all(Array.from({ length: 251 }, (_, index) => submit(`${index}`, '0 0 1 * *', 'many')));
    const jobs = await listed('--pool', 'many');
    expect(new Set(namesOf(jobs)).size).toBe(251);
  });

  it('tells how to make one when there is none', async () => {
    const place = ['--server', empty.url];
    const advice = expect.stringContaining('portolan job submit TARGETS --schedule "');
    expect(await home.run(['schedule', 'list', ...place])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: advice,
    });
    const json = await home.run(['schedule', 'list', '--format', 'json', ...place]);
    expect(json).toMatchObject({ code: 0, stdout: '{\n  "jobs": []\n}\n', stderr: '' });
    const csv = await home.run(['schedule', 'list', '--format', 'csv', ...place]);
    expect(csv).toMatchObject({ code: 0, stdout: expect.stringMatching(/^job_id,.*\r\n$/), stderr: '' });
  });

  it('without a server ends with exit code 4', async () => {
    const { code, stdout, stderr } = await home.run(['schedule', 'list']);
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain('no server');
  });
});

describe('portolan schedule next', () => {
  const next = (...args: string[]) => home.run(['schedule', 'next', ...args]);
  const berlin = ['--zone', 'Europe/Berlin'];

  it('shows five times, each by the clock of the zone and as UTC', async () => {
    const { code, stdout, stderr } = await next('30 2 * * *', ...berlin, '--from', '2027-03-27');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // At 02:00 of 28 March 2027 the clock goes on to 03:00.
    expect(stdout).toBe(
      `DAY  LOCAL (Europe/Berlin)      UTC
Sat  2027-03-27T02:30:00+01:00  2027-03-27T01:30:00Z
Sun  2027-03-28T03:00:00+02:00  2027-03-28T01:00:00Z
Mon  2027-03-29T02:30:00+02:00  2027-03-29T00:30:00Z
Tue  2027-03-30T02:30:00+02:00  2027-03-30T00:30:00Z
Wed  2027-03-31T02:30:00+02:00  2027-03-31T00:30:00Z
`,
    );
  });

  it.each([
    [
      'a fixed time that comes twice',
      '30 2 * * *',
      ['2027-10-31T02:30:00+02:00', '2027-11-01T02:30:00+01:00'],
    ],
    [
      'steps',
      '*/30 2 * * *',
      ['2027-10-31T02:00:00+02:00', '2027-10-31T02:30:00+02:00', '2027-10-31T02:00:00+01:00'],
    ],
  ])('tells %s as the server runs it', async (_what, cron, expected) => {
    const flags = ['--from', '2027-10-31', '--count', String(expected.length), '--format', 'json'];
    const { stdout } = await next(cron, ...berlin, ...flags);
    const told = JSON.parse(stdout) as { times: { local: string; utc: string }[] };
    expect(told).toMatchObject({ schedule: cron, zone: 'Europe/Berlin', from: '2027-10-30T22:00:00.000Z' });
    expect(told.times.map(({ local }) => local)).toEqual(expected);
    for (const { local, utc } of told.times) expect(Date.parse(local)).toBe(Date.parse(utc));
  });

  it('begins now, or with the time itself', async () => {
    const before = Date.now();
    const { stdout } = await next('* * * * *', '--count', '100', '--format', 'json');
    const { zone, times } = JSON.parse(stdout) as { zone: string; times: { utc: string }[] };
    expect([zone, times.length]).toEqual(['UTC', 100]);
    expect(Date.parse(times[0]?.utc ?? '') - before).toBeLessThanOrEqual(90_000);
    const from = ['--from', '2027-01-01T02:00:00+02:00'];
    expect((await next('@daily', ...from, '--count', '1')).stdout).toContain('2027-01-01T00:00:00Z');
  });

  it('takes the zone of the configuration, of which it otherwise needs nothing', async () => {
    const config = home.file('zone.yaml');
    writeFileSync(config, 'queue:\n  timezone: Asia/Tokyo\nworkspace:\n  dir: /none/such\n');
    const { code, stdout } = await next('@yearly', '--count', '1', '--config', config);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/LOCAL \(Asia\/Tokyo\).*\n.*T00:00:00\+09:00 {2}\S+T15:00:00Z\n$/),
    ]);
    expect((await next('@yearly', ...berlin, '--config', '/none/such')).code).toBe(0);
    expect((await next('@yearly', '--config', '/none/such')).code).toBe(3);
  });

  it('says so when the calendar has no further time', async () => {
    const { code, stdout, stderr } = await next('@yearly', '--from', '9999-12-31');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('before the year 10000');
  });

  it.each([
    ['an expression', ['60 * * * *'], 'schedule: minute: "60" is out of range: 0 to 59'],
    ['a day that never occurs', ['0 0 31 2 *'], 'never occurs'],
    ['control bytes', ['0 2 \u001b[31m * *'], '"\\u001b[31m"'],
    ['an expression without quotes', ['0', '2', '*', '*', '*'], 'too many arguments'],
    ['a zone', ['@daily', '--zone', 'Europe/Bärlin'], '--zone must be an IANA time zone'],
    ['an offset as a zone', ['@daily', '--zone', '+01:00'], '--zone must be an IANA time zone'],
    ['a time', ['@daily', '--from', 'tomorrow'], '--from: "tomorrow" is not a time such as'],
    ['a day', ['@daily', '--from', '2027-02-30'], '"2027-02-30" is not a valid date or time'],
    ['a time of long ago', ['@daily', '--from', '1969-12-31'], 'is before 1970'],
    ['no times', ['@daily', '--count', '0'], 'from 1 to 100'],
    ['too many times', ['@daily', '--count', '101'], 'from 1 to 100'],
  ])('refuses %s', async (_what, args, reason) => {
    const { code, stdout, stderr } = await next(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(reason);
    expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});

describe('portolan schedule --help', () => {
  it('tells how a schedule is made and ended', async () => {
    const { stdout } = await home.run(['schedule', '--help']);
    expect(stdout).toContain('portolan job submit 192.0.2.0/24 --schedule "');
    expect(stdout).toContain('portolan job cancel ID');
  });
});
