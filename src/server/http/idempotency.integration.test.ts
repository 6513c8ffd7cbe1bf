import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withoutReferences } from '../fixtures/api-document.ts';
import { openService, type Service } from '../fixtures/service.ts';

const open: Service[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const service of open.splice(0)) await service.close();
});
async function start(flags: Record<string, unknown> = {}, dir?: string): Promise<Service> {
  const service = await openService(flags, dir === undefined ? {} : { dir });
  open.push(service);
  return service;
}

async function submit(service: Service, key: string, payload: unknown, token?: string) {
  const response = await service.app.inject({
    method: 'POST',
    url: '/api/v1/scans',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': key,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
  return {
    status: response.statusCode,
    replayed: response.headers['idempotency-replayed'],
    location: response.headers['location'],
    ...response.json(),
  };
}

const body = { targets: ['127.0.0.1'], name: 'x' };
const scans = async (service: Service) => (await service.store.scans.totals()).scan_count;

describe('Idempotency-Key', () => {
  it('makes one scan of 100 equal submissions, also after a restart', async () => {
    const first = await start({ 'queue.max_jobs': 1 });
    const responses = await Promise.all(Array.from({ length: 100 }, () => submit(first, 'key', body)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(responses.filter(({ replayed }) => replayed === undefined)).toHaveLength(1);
    const [data, ...others] = new Set(responses.map(({ data }) => JSON.stringify(data)));
    expect(others).toEqual([]);
    expect(await scans(first)).toBe(1);
    expect(await first.store.scanQueue.counts('2000')).toMatchObject({ pending: 1 });
    const folders = join(first.dir, 'ws', 'scans');
    expect(await readdir(folders)).toHaveLength(1);

    open.splice(0);
    await first.close({ keep: true });
    const second = await start({}, first.dir);
    const again = await submit(second, 'key', body);
    expect([again.status, again.replayed, JSON.stringify(again.data)]).toEqual([201, 'true', data]);
    expect(again.location).toBe(`/api/v1/scans/${again.data.scan_id}`);
    expect((await submit(second, 'key', { ...body, name: 'y' })).status).toBe(409);
    expect(await scans(second)).toBe(1);
  });

  it('with another body is a conflict, however the same one is written', async () => {
    const service = await start();
    const { data } = await submit(service, 'key', { ...body, colour: { a: 1, b: [2] } });
    const same = ' { "colour":{"b":[ 2],"a":1}, "name":"x","targets":["127.0.0.1"] }';
    const again = await submit(service, 'key', same);
    expect(again).toMatchObject({ status: 201, replayed: 'true', data });
    expect(again.meta.warnings).toEqual(['unknown field: colour']);
    const other = await submit(service, 'key', body);
    expect(other).toMatchObject({ status: 409, error: { code: 'conflict' } });
    expect(other.replayed).toBeUndefined();
    expect(await submit(service, 'key', { ...body, ports: '0' })).toMatchObject({ status: 400 });
    expect(await submit(service, 'other', body)).toMatchObject({ status: 201, replayed: undefined });
    expect(await scans(service)).toBe(2);
  });

  it('decides between parallel submissions with different bodies', async () => {
    const service = await start();
    const bodies = Array.from({ length: 20 }, (_, index) => ({ ...body, name: String(index % 2) }));
    const responses = await Promise.all(bodies.map((one) => submit(service, 'key', one)));
    expect(responses.map(({ status }) => status).sort()).toEqual([
      ...Array(10).fill(201),
      ...Array(10).fill(409),
    ]);
    expect(await scans(service)).toBe(1);
    expect(await readdir(join(service.dir, 'ws', 'scans'))).toHaveLength(1);
  });

  it('is not used up by a submission that was refused', async () => {
    const service = await start({ 'queue.max_jobs': 1 });
    expect(await submit(service, 'key', { ...body, ports: '0' })).toMatchObject({ status: 400 });
    await submit(service, 'full', body);
    expect(await submit(service, 'key', body)).toMatchObject({ status: 503 });
    // An accepted key gets its response again, even if the queue is full.
    expect(await submit(service, 'full', body)).toMatchObject({ status: 201, replayed: 'true' });
    const [scan] = (await service.store.scans.list({ limit: 1, offset: 0 })).scans;
    await service.queue.cancel(scan?.scan_id ?? '');
    expect(await submit(service, 'key', body)).toMatchObject({ status: 201, replayed: undefined });
  });

  it('belongs to a token', async () => {
    const service = await start({ 'server.api.auth': true });
    const [one, two] = [await service.token('scan:write'), await service.token('scan:write')];
    const { data } = await submit(service, 'key', body, one);
    expect(await submit(service, 'key', { ...body, name: 'y' }, two)).toMatchObject({ status: 201 });
    expect(await submit(service, 'key', body, one)).toMatchObject({ replayed: 'true', data });
  });

  it('is kept for 24 h, then swept', async () => {
    const service = await start();
    const begin = Date.now();
    const at = (hours: number) => vi.useFakeTimers({ toFake: ['Date'], now: begin + hours * 3_600_000 });
    at(0);
    const { data } = await submit(service, 'key', body);
    at(23.99);
    expect(await submit(service, 'key', body)).toMatchObject({ replayed: 'true', data });
    at(24.01);
    const later = await submit(service, 'key', { ...body, name: 'y' });
    expect([later.status, later.replayed]).toEqual([201, undefined]);
    expect(await service.store.idempotency.find('', 'key', begin)).toMatchObject({
      scan_id: later.data.scan_id,
    });
    at(49);
    await submit(service, 'other', body);
    expect(await service.store.idempotency.find('', 'key', begin)).toBeNull();
  });

  it.each([
    ['empty', '', 400],
    ['with a space', 'a b', 400],
    ['not ASCII', 'ä', 400],
    ['too long', 'x'.repeat(256), 400],
    ['longest', '~!'.repeat(127) + 'x', 201],
  ])('that is %s: %s', async (_name, key, status) => {
    const service = await start();
    const response = await submit(service, key, body);
    expect(response.status).toBe(status);
    if (status === 400) expect(response.error.details.fields[0].field).toBe('idempotency-key');
  });

  it('stands in the description of the API', async () => {
    const service = await start();
    const { paths } = withoutReferences((await service.app.inject({ url: '/api/v1/openapi.json' })).json());
    const { parameters, responses } = paths['/api/v1/scans'].post;
    expect(parameters).toEqual([
      expect.objectContaining({ in: 'header', name: 'idempotency-key', required: false }),
    ]);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['409', '429']));
  });
});
