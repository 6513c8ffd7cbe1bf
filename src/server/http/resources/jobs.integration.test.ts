import { afterEach, describe, expect, it } from 'vitest';
import type { Job } from '../../../domain/job.ts';
import { JobClock } from '../../background/job-scheduler.ts';
import { openService, type Service } from '../../fixtures/service.ts';

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});
async function start(
  flags: Record<string, unknown> = {},
  options: Parameters<typeof openService>[1] = {},
): Promise<Service> {
  const service = await openService(flags, options);
  open.push(service);
  return service;
}

interface Response {
  status: number;
  headers: Record<string, unknown>;
  data: Job;
  list: { jobs: Job[]; total: number; limit: number; offset: number; next_cursor: string | null };
  error: { code: string; message: string; details: { fields?: { field: string; reason: string }[] } };
  warnings: string[] | undefined;
}

async function request(
  service: Service,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  payload?: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await service.app.inject({
    method,
    url: `/api/v1/jobs${path}`,
    headers,
    ...(payload && { payload }),
  });
  const body = response.json();
  return {
    status: response.statusCode,
    headers: response.headers,
    data: body.data,
    list: body.data,
    error: body.error,
    warnings: body.meta?.warnings,
  };
}

const now = { type: 'scan', params: { targets: ['127.0.0.1'] } };
const nightly = { ...now, schedule: '0 2 * * *' };
const submit = (service: Service, body: object, headers?: Record<string, string>) =>
  request(service, 'POST', '', body, headers);

async function until(service: Service, id: string, done: (job: Job) => boolean): Promise<Job> {
  for (const end = performance.now() + 30_000; ; ) {
    const { data } = await request(service, 'GET', `/${id}`);
    if (done(data)) return data;
    if (performance.now() > end) throw new Error(`the job is ${JSON.stringify(data)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('POST /api/v1/jobs', () => {
  it('accepts a job with a schedule and returns its next three times', async () => {
    const service = await start();
    const { status, headers, data } = await submit(service, { ...nightly, name: 'nightly' });
    expect(status).toBe(201);
    expect(data.job_id).toMatch(/^job-[a-z0-9]{4,16}$/);
    expect(headers['location']).toBe(`/api/v1/jobs/${data.job_id}`);
    expect(data).toEqual({
      job_id: data.job_id,
      type: 'scan',
      params: { targets: ['127.0.0.1'] },
      schedule: '0 2 * * *',
      pool: 'default',
      priority: 5,
      name: 'nightly',
      status: 'pending',
      last_status: null,
      progress: 0,
      scan_id: null,
      run_count: 0,
      last_run_at: null,
      next_run_at: data.next_runs[0],
      next_runs: [0, 1, 2].map((days) =>
        new Date(Date.parse(data.next_runs[0] ?? '') + days * 86_400_000).toISOString(),
      ),
      runs: [],
      created_at: data.created_at,
      started_at: null,
      completed_at: null,
      error: null,
      created_by: null,
    });
    expect(Date.parse(data.next_runs[0] ?? '')).toBeGreaterThan(Date.now());
    expect((await request(service, 'GET', `/${data.job_id}`)).data).toEqual(data);
    expect((await service.store.scans.totals()).scan_count).toBe(0);
  });

  it('runs a job without a schedule at once, to its end', async () => {
    const service = await start({}, { working: true });
    const { status, data } = await submit(service, { ...now, params: { ...now.params, name: 'rows 3' } });
    expect(status).toBe(201);
    expect(data).toMatchObject({ schedule: null, next_run_at: null, next_runs: [], run_count: 1 });
    const ended = await until(service, data.job_id, (job) => job.completed_at !== null);
    expect(ended).toMatchObject({
      status: 'completed',
      last_status: 'completed',
      progress: 100,
      scan_id: data.scan_id,
      error: null,
      runs: [{ scan_id: data.scan_id, status: 'completed' }],
    });
    const scan = await service.store.scans.get(data.scan_id ?? '');
    expect([ended.started_at, ended.completed_at]).toEqual([scan?.started_at, scan?.completed_at]);
    expect((await request(service, 'POST', `/${data.job_id}/cancel`)).error.code).toBe('conflict');
    expect((await request(service, 'GET', `/${data.job_id}`)).data).toEqual(ended);
  });

  it('looks for vulnerabilities where the graph does and the job is silent', async () => {
    const service = await start();
    const ordered = async (more: object) => {
      const params = { ...now.params, dag: 'vuln-scan', ...more };
      const { data } = await submit(service, { ...now, params });
      return (await service.workspace.scan(data.scan_id ?? '').request()).vuln;
    };
    expect([await ordered({}), await ordered({ vuln: false })]).toEqual([true, false]);
  });

  it('refuses every bad schedule with the reason, and stores nothing', async () => {
    const service = await start();
    for (const schedule of [
      '60 * * * *',
      '*/0 * * * *',
      '0 0 2 * * *',
      '@reboot',
      '',
      '0 0 L * *',
      'x'.repeat(9999),
    ]) {
      const { status, error } = await submit(service, { ...now, schedule });
      expect([schedule, status, error.code]).toEqual([schedule, 400, 'invalid_request']);
      expect(error.details.fields).toEqual([
        { field: 'schedule', reason: expect.stringMatching(/\w+ .*\w/) },
      ]);
    }
    expect((await submit(service, { ...now, schedule: 5 })).status).toBe(400);
    expect((await request(service, 'GET', '')).list.total).toBe(0);
  });

  it('checks params as a scan, and says which field of them is wrong', async () => {
    const service = await start();
    const fieldsOf = async (body: object) => {
      const { status, error } = await submit(service, body);
      return [status, (error.details.fields ?? []).map(({ field }) => field)];
    };
    expect(await fieldsOf({})).toEqual([400, ['type', 'params']]);
    expect(await fieldsOf({ type: 'report', params: { targets: ['127.0.0.1'] } })).toEqual([400, ['type']]);
    expect(await fieldsOf({ type: 'scan', params: {} })).toEqual([400, ['params.targets']]);
    expect(await fieldsOf({ type: 'scan', params: { targets: ['10.0.0.300'] } })).toEqual([
      400,
      ['params.targets'],
    ]);
    expect(
      await fieldsOf({
        ...nightly,
        schedule: '60 * * * *',
        params: { targets: ['127.0.0.1'], profile: 'x' },
      }),
    ).toEqual([400, ['schedule', 'params.profile']]);
    expect(await fieldsOf({ ...now, pool: 'Ä' })).toEqual([400, ['pool']]);
    for (const priority of [-1, 10, 1.5, 'high'])
      expect(await fieldsOf({ ...now, priority })).toEqual([400, ['priority']]);
    expect(await fieldsOf({ ...now, priority: 1, params: { ...now.params, priority: 2 } })).toEqual([
      400,
      ['params.priority'],
    ]);
    expect(await fieldsOf({ ...now, pool: 'a', params: { ...now.params, pool: 'b' } })).toEqual([
      400,
      ['params.pool'],
    ]);
  });

  it('keeps what is known of params only, and names the rest', async () => {
    const service = await start();
    const params = { targets: ['127.0.0.1'], colour: 'red', options: { retries: 2, magic: true } };
    const { data, warnings } = await submit(service, { ...nightly, params, shape: 'round' });
    expect(data.params).toEqual({ targets: ['127.0.0.1'], options: { retries: 2 } });
    expect(warnings).toEqual([
      'unknown field: params.colour',
      'unknown field: params.options.magic',
      'unknown field: shape',
    ]);
  });

  it('gives its priority to its scans, and takes that of its params', async () => {
    const free = await start();
    for (const body of [{ priority: 8 }, { params: { ...now.params, priority: 8 } }]) {
      const { data } = await submit(free, { ...now, ...body });
      expect(data.priority).toBe(8);
      expect((await free.store.scans.get(data.scan_id ?? ''))?.priority).toBe(8);
    }
  });

  it('knows the pools of workers.pools only, where they are listed', async () => {
    const listed = await start({ 'workers.pools': { dmz: {} } });
    expect((await submit(listed, { ...now, pool: 'dmz' })).data.pool).toBe('dmz');
    expect((await submit(listed, { ...now, pool: 'default' })).status).toBe(201);
    const { status, error } = await submit(listed, { ...now, pool: 'far' });
    expect([status, error.details.fields]).toEqual([
      400,
      [{ field: 'pool', reason: 'unknown pool "far"; valid names: default, dmz' }],
    ]);
    const free = await start();
    const { data } = await submit(free, { ...now, pool: 'far' });
    expect((await free.store.scans.get(data.scan_id ?? ''))?.pool).toBe('far');
  });

  it('refuses a run at once when the queue is full; a schedule waits for its time', async () => {
    const service = await start({ 'queue.max_jobs': 1 });
    expect((await submit(service, now)).status).toBe(201);
    const { status, error, headers } = await submit(service, now);
    expect([status, error.code]).toEqual([503, 'queue_full']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await submit(service, nightly)).status).toBe(201);
    expect((await request(service, 'GET', '')).list.total).toBe(2);
  });

  it('makes one job of 100 equal submissions with one key, also after a restart', async () => {
    for (const body of [now, nightly]) {
      const first = await openService({ 'queue.max_jobs': 1 });
      const key = { 'idempotency-key': 'k' };
      const responses = await Promise.all(Array.from({ length: 100 }, () => submit(first, body, key)));
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(responses.map(({ data }) => JSON.stringify(data))).size).toBe(1);
      expect(responses.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(
        1,
      );
      expect((await request(first, 'GET', '')).list.total).toBe(1);
      expect((await first.store.scans.totals()).scan_count).toBe(body === now ? 1 : 0);
      await first.close({ keep: true });

      const second = await start({}, { dir: first.dir });
      const again = await submit(second, body, key);
      expect([again.status, again.headers['idempotency-replayed']]).toEqual([201, 'true']);
      expect(again.data).toEqual(responses[0]?.data);
      expect((await submit(second, { ...body, name: 'other' }, key)).error.code).toBe('conflict');
      const scan = await second.app.inject({
        method: 'POST',
        url: '/api/v1/scans',
        headers: key,
        payload: { targets: ['127.0.0.1'] },
      });
      expect(scan.statusCode).toBe(409);
    }
  });
});

describe('GET /api/v1/jobs', () => {
  it('lists jobs, newest first, by page and by filter', async () => {
    const service = await start({}, { working: true });
    const made: string[] = [];
    for (const name of ['a', 'b', 'c'])
      made.unshift((await submit(service, { ...nightly, name })).data.job_id);
    const hanging = await submit(service, { ...now, pool: 'far', params: { ...now.params, name: 'hang' } });
    made.unshift(hanging.data.job_id);
    await until(service, hanging.data.job_id, ({ status }) => status === 'running');
    const ids = async (query: string) =>
      (await request(service, 'GET', query)).list.jobs.map(({ job_id }) => job_id);
    const ordered = (await request(service, 'GET', '')).list.jobs.map(
      ({ created_at, job_id }) => created_at + job_id,
    );
    expect(ordered).toEqual(ordered.toSorted().toReversed());

    const first = await request(service, 'GET', '?limit=2');
    expect(first.list).toMatchObject({ total: 4, limit: 2, offset: 0, next_cursor: expect.any(String) });
    expect(String(first.headers['link'])).toMatch(/rel="first".*rel="next".*rel="last"/);
    const second = await ids(`?limit=2&cursor=${first.list.next_cursor}`);
    expect([...first.list.jobs.map(({ job_id }) => job_id), ...second].toSorted()).toEqual(made.toSorted());
    expect(await ids('?limit=2&offset=2')).toEqual(second);
    expect(await ids('?offset=9')).toEqual([]);

    expect(await ids('?status=running')).toEqual([hanging.data.job_id]);
    expect(await ids('?status=pending')).toHaveLength(3);
    expect(await ids('?status=canceled')).toEqual([]);
    expect(await ids('?pool=far')).toEqual([hanging.data.job_id]);
    expect(await ids('?type=scan')).toHaveLength(4);
    expect(await ids('?since=2999-01-01')).toEqual([]);
    expect(await ids('?since=2020-01-01')).toHaveLength(4);
    for (const bad of [
      'status=queued',
      'status=done',
      'type=x',
      'since=x',
      'limit=0',
      'limit=1e3',
      'cursor=x',
    ])
      expect([bad, (await request(service, 'GET', `?${bad}`)).status]).toEqual([bad, 400]);
  });

  it('shows a hundred of very many targets', async () => {
    const service = await start();
    const targets = Array.from({ length: 9000 }, (_, index) => `10.1.${index >> 8}.${index & 255}`);
    const { data } = await submit(service, { ...nightly, params: { targets } });
    const { list } = await request(service, 'GET', '');
    expect(list.jobs[0]?.params).toEqual({ targets: targets.slice(0, 100), targets_total: 9000 });
    expect((await request(service, 'GET', `/${data.job_id}`)).data.params).toEqual({ targets });
  });

  it('responds 404 for an unknown job', async () => {
    const service = await start();
    for (const id of ['job-ffffffff', 'job-', 'JOB-FFFF', '..%2f', 'x'.repeat(500)]) {
      expect((await request(service, 'GET', `/${id}`)).status).toBe(404);
      expect((await request(service, 'POST', `/${id}/cancel`)).status).toBe(404);
    }
  });
});

describe('a long page of jobs', () => {
  it('is read in parts and is one page', async () => {
    const service = await start();
    const made: string[] = [];
    for (let n = 0; n < 210; n++) made.push((await submit(service, nightly)).data.job_id);
    const whole = await request(service, 'GET', '?limit=1000');
    expect(whole.list).toMatchObject({ total: 210, limit: 1000, next_cursor: null });
    const ids = whole.list.jobs.map(({ job_id }) => job_id);
    expect(ids.toSorted()).toEqual(made.toSorted());
    const some = await request(service, 'GET', '?limit=150&offset=30');
    expect(some.list.jobs.map(({ job_id }) => job_id)).toEqual(ids.slice(30, 180));
    const rest = await request(service, 'GET', `?limit=150&cursor=${some.list.next_cursor}`);
    expect(rest.list.jobs.map(({ job_id }) => job_id)).toEqual(ids.slice(180));
  });
});

describe('a recurring job', () => {
  const nightly = { type: 'scan', params: { targets: ['127.0.0.1'], ports: '9' }, schedule: '0 2 * * *' };

  it('runs now in place of its next run, and at its times afterwards', async () => {
    const service = await start({}, { working: true });
    const clock = new JobClock(service.context);
    const { data } = await request(service, 'POST', '', nightly);
    expect((await request(service, 'POST', `/${data.job_id}/run`)).status).toBe(200);
    await clock.start();
    try {
      const shown = async () => (await request(service, 'GET', `/${data.job_id}`)).data;
      await expect.poll(async () => (await shown()).last_status, { timeout: 20_000 }).toBe('completed');
      expect(await shown()).toMatchObject({ run_count: 1, next_run_at: data.next_run_at });
    } finally {
      await clock.close();
    }
  });

  it('is changed: targets, schedule and name; its id stays', async () => {
    const service = await start();
    const { data } = await request(service, 'POST', '', nightly);
    const params = { targets: ['127.0.0.2'], notifications: ['slack://night'] };
    const change = { type: 'scan', params, schedule: '@weekly', name: 'weekly' };
    const changed = await request(service, 'PUT', `/${data.job_id}`, change);
    expect(changed.data).toMatchObject({ job_id: data.job_id, params, schedule: '@weekly', name: 'weekly' });
    expect(changed.data.next_run_at).not.toBe(data.next_run_at);
    const bad = await request(service, 'PUT', `/${data.job_id}`, { ...change, schedule: 'soon' });
    expect([bad.status, bad.error.details.fields?.[0]?.field]).toEqual([400, 'schedule']);
    const { schedule: _schedule, ...once } = change;
    expect((await request(service, 'PUT', `/${data.job_id}`, once)).error.message).toMatch(
      /keeps a schedule/,
    );
    await request(service, 'POST', `/${data.job_id}/cancel`);
    expect((await request(service, 'PUT', `/${data.job_id}`, change)).status).toBe(409);
    expect((await request(service, 'POST', `/${data.job_id}/run`)).error.message).toMatch(/it has ended/);
  });
});

describe('POST /api/v1/jobs/{job_id}/cancel', () => {
  it('ends a job that waits for its time', async () => {
    const service = await start();
    const { data } = await submit(service, nightly);
    const canceled = await request(service, 'POST', `/${data.job_id}/cancel`);
    expect([canceled.status, canceled.data]).toMatchObject([
      200,
      { status: 'canceled', next_run_at: null, next_runs: [], completed_at: expect.any(String) },
    ]);
    expect((await request(service, 'POST', `/${data.job_id}/cancel`)).data).toEqual(canceled.data);
  });

  it('stops the scan that runs, and keeps what it found', async () => {
    const service = await start({}, { working: true });
    const { data } = await submit(service, { ...now, params: { ...now.params, name: 'hang' } });
    await service.until(data.scan_id ?? '', ({ results }) => results.live_hosts === 1);
    const canceled = await request(service, 'POST', `/${data.job_id}/cancel`);
    expect([canceled.status, canceled.data]).toMatchObject([
      200,
      { status: 'canceled', last_status: 'failed', runs: [{ scan_id: data.scan_id, status: 'failed' }] },
    ]);
    const scan = await service.store.scans.get(data.scan_id ?? '');
    expect(scan).toMatchObject({ status: 'failed', error: { code: 'canceled' }, results: { live_hosts: 1 } });
    expect(await request(service, 'POST', `/${data.job_id}/cancel`)).toMatchObject({
      status: 200,
      data: canceled.data,
    });
  });

  it('takes a scan that waits out of the queue', async () => {
    const service = await start();
    const { data } = await submit(service, now);
    expect((await request(service, 'POST', `/${data.job_id}/cancel`)).data.status).toBe('canceled');
    expect((await service.store.scans.get(data.scan_id ?? ''))?.error?.code).toBe('canceled');
    expect(await service.store.scanQueue.counts('2000')).toMatchObject({ pending: 0, running: 0 });
  });

  it('is finished by the next server when this one dies in between', async () => {
    const first = await openService();
    const { data } = await submit(first, now);
    await first.store.transaction(async (inside) => {
      await inside.clientJobs.cancel(data.job_id, new Date().toISOString());
      await inside.scanQueue.cancel(data.scan_id ?? '', Date.now());
    });
    await first.close({ keep: true });
    const second = await start({}, { dir: first.dir, working: true });
    await second.until(data.scan_id ?? '', ({ status }) => status === 'failed');
    const shown = (await request(second, 'GET', `/${data.job_id}`)).data;
    expect(shown).toMatchObject({ status: 'canceled', runs: [{ status: 'failed' }] });
  });
});

describe('a job', () => {
  it('keeps its record when its scan is deleted', async () => {
    const service = await start({}, { working: true });
    const { data } = await submit(service, { ...now, params: { ...now.params, name: 'rows 1' } });
    await until(service, data.job_id, ({ status }) => status === 'completed');
    await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${data.scan_id}` });
    const { data: kept } = await request(service, 'GET', `/${data.job_id}`);
    expect(kept).toMatchObject({ status: 'completed', scan_id: data.scan_id });
    const hanging = await submit(service, { ...now, params: { ...now.params, name: 'hang' } });
    await until(service, hanging.data.job_id, ({ status }) => status === 'running');
    await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${hanging.data.scan_id}` });
    expect((await request(service, 'GET', `/${hanging.data.job_id}`)).data).toMatchObject({
      status: 'failed',
      last_status: 'failed',
      error: { code: expect.stringMatching(/deleted|canceled/) },
    });
  });

  it('fails with its scan, for the same reason', async () => {
    const service = await start({}, { working: true });
    const { data } = await submit(service, { ...now, params: { ...now.params, name: 'hang' } });
    await until(service, data.job_id, ({ status }) => status === 'running');
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${data.scan_id}/cancel` });
    expect((await request(service, 'GET', `/${data.job_id}`)).data).toMatchObject({
      status: 'failed',
      error: { code: 'canceled' },
    });
  });

  it('is for tokens with its scopes, and names the one that made it', async () => {
    const service = await start({ 'server.api.auth': true });
    const bearer = async (...scopes: string[]) => ({
      authorization: `Bearer ${await service.token(...scopes)}`,
    });
    const [reader, writer, other] = [
      await bearer('job:read'),
      await bearer('job:write'),
      await bearer('plugin:read'),
    ];
    expect((await submit(service, nightly, reader)).error.code).toBe('insufficient_scope');
    const { data } = await submit(service, nightly, writer);
    expect(writer.authorization).toContain(`svc_${data.created_by}_`);
    expect((await request(service, 'GET', '', undefined, reader)).list.total).toBe(1);
    expect((await request(service, 'GET', '', undefined, writer)).status).toBe(403);
    expect((await request(service, 'GET', `/${data.job_id}`, undefined, other)).status).toBe(403);
    expect((await request(service, 'POST', `/${data.job_id}/cancel`, undefined, reader)).status).toBe(403);
    expect((await submit(service, nightly, await bearer('scan:write'))).status).toBe(201);
    expect((await request(service, 'GET', '', undefined, await bearer('scan:read'))).list.total).toBe(2);
  });

  it('of another tenant is not there', async () => {
    const service = await start({ 'multi_tenant.enabled': true, 'multi_tenant.tenants': ['acme', 'globex'] });
    const [acme, globex] = [{ 'x-tenant-id': 'acme' }, { 'x-tenant-id': 'globex' }];
    const { data } = await submit(service, nightly, acme);
    const foreign = await request(service, 'GET', `/${data.job_id}`, undefined, globex);
    const unknown = await request(service, 'GET', '/job-ffffffff', undefined, globex);
    expect([foreign.status, foreign.error.message]).toEqual([404, unknown.error.message]);
    expect((await request(service, 'POST', `/${data.job_id}/cancel`, undefined, globex)).status).toBe(404);
    expect((await request(service, 'GET', '', undefined, globex)).list.total).toBe(0);
    expect((await request(service, 'GET', `/${data.job_id}`, undefined, acme)).data.status).toBe('pending');
  });
});

describe('workers.pools', () => {
  it('bounds the scans of a pool that run at a time', async () => {
    const service = await start(
      { 'workers.pools': { dmz: { max: 1 } }, 'server.workers': 3 },
      { working: true },
    );
    const hang = (pool: string) => submit(service, { ...now, pool, params: { ...now.params, name: 'hang' } });
    const [first, second] = [(await hang('dmz')).data, (await hang('dmz')).data];
    const other = (await hang('default')).data;
    await until(service, other.job_id, ({ status }) => status === 'running');
    expect((await request(service, 'GET', `/${first.job_id}`)).data.status).toBe('running');
    expect((await request(service, 'GET', `/${second.job_id}`)).data.status).toBe('pending');
    await request(service, 'POST', `/${first.job_id}/cancel`);
    await until(service, second.job_id, ({ status }) => status === 'running');
  });
});
