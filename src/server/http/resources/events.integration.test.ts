import { afterEach, describe, expect, it } from 'vitest';
import { revokeToken } from '../../../actions/access/revoke-token.ts';
import { rotateToken } from '../../../actions/access/rotate-token.ts';
import { isFinal } from '../../../domain/scan.ts';
import { openService, type Service } from '../../fixtures/service.ts';

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function start(flags: Record<string, unknown> = {}) {
  const service = await openService(flags, { working: true });
  open.push(service);
  return { service, base: await service.listen() };
}

interface Event {
  id?: string;
  event: string;
  data: Record<string, unknown>;
}

function parse(text: string): Event[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('event:'))
    .map((block) => {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
      return { ...fields, data: JSON.parse(fields['data']) } as Event;
    });
}

async function follow(base: string, scanId: string, lastId?: string): Promise<Event[]> {
  const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
  const response = await fetch(`${base}/api/v1/scans/${scanId}/events`, { headers });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  return parse(await response.text());
}

describe('the event stream', () => {
  it('streams a scan from start to end, each row once', async () => {
    const { service, base } = await start();
    const scanId = await service.submit('hang');
    const following = follow(base, scanId);
    await service.until(scanId, ({ results }) => results.live_hosts === 1);
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    const events = await following;
    const names = events.map(({ event }) => event);
    expect(names[0]).toBe('status');
    expect(names.filter((name) => name === 'host')).toHaveLength(1);
    expect(names).toContain('progress');
    expect(names.at(-1)).toBe('end');
    expect(events.at(-1)?.data).toMatchObject({
      status: 'failed',
      partial: true,
      error: { code: 'canceled' },
    });
    expect(events.find(({ event }) => event === 'host')).toMatchObject({
      id: '1',
      data: { type: 'host', host: '127.0.0.1' },
    });
  });

  it('goes on after Last-Event-ID without a gap, also when the scan is over', async () => {
    const { service, base } = await start();
    const scanId = await service.submit('rows 200');
    await service.until(scanId, ({ status }) => isFinal(status));
    const all = await follow(base, scanId);
    const ids = all.flatMap(({ id }) => (id === undefined ? [] : Number(id)));
    expect(ids).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    const rest = await follow(base, scanId, '150');
    expect(rest.flatMap(({ id }) => id ?? [])).toEqual(
      Array.from({ length: 50 }, (_, index) => String(index + 151)),
    );
    expect(rest.at(-1)?.event).toBe('end');
    expect(
      (await fetch(`${base}/api/v1/scans/${scanId}/events`, { headers: { 'last-event-id': 'x' } })).status,
    ).toBe(400);
  });

  it('ends when the scan is deleted, and when the server closes', async () => {
    const { service, base } = await start();
    const deleted = await service.submit('hang');
    const running = await service.submit('hang');
    const [one, two] = [follow(base, deleted), follow(base, running)];
    await service.until(deleted, ({ status }) => status === 'running');
    await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${deleted}` });
    await one;
    open.splice(0);
    await Promise.all([service.close(), two]);
  });

  it('requires a token', async () => {
    const { service, base } = await start({ 'server.api.auth': true });
    expect((await fetch(`${base}/api/v1/scans/20261006-143022-abcdef/events`)).status).toBe(401);
    const headers = { authorization: `Bearer ${await service.token('scan:read')}` };
    expect((await fetch(`${base}/api/v1/scans/20261006-143022-abcdef/events`, { headers })).status).toBe(404);
  });

  it.each(['revoked', 'rotated', 'expired'])('ends when its token is %s', async (what) => {
    const { service, base } = await start({ 'server.api.auth': true });
    const headers = async (...scopes: string[]) => ({
      authorization: `Bearer ${await service.token(...scopes)}`,
    });
    const payload = { targets: ['127.0.0.1'], name: 'hang' };
    const submitted = await service.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      payload,
      headers: await headers('scan:write'),
    });
    const scanId = submitted.json().data.scan_id;
    const reader = await headers('scan:read');
    const response = await fetch(`${base}/api/v1/scans/${scanId}/events`, { headers: reader });
    let ended = false;
    const text = response.text().finally(() => (ended = true));
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(ended).toBe(false);

    const id = reader.authorization.split('_')[1] as string;
    if (what === 'revoked') await revokeToken(service.store, id);
    if (what === 'rotated') await rotateToken(service.store, id, null);
    if (what === 'expired') await service.store.tokens.update(id, { expires_at: new Date().toISOString() });
    await expect.poll(() => ended).toBe(true);
    expect(parse(await text).map(({ event }) => event)).not.toContain('end');
    expect((await fetch(`${base}/api/v1/scans/${scanId}/events`, { headers: reader })).status).toBe(401);
  });

  it('costs nothing more once its reader has gone before it began', async () => {
    const { service, base } = await start();
    const scanId = await service.submit('hang');
    await service.until(scanId, ({ status }) => status === 'running');
    const { scans } = service.store;
    let looks = 0;
    const { changed } = service.workers;
    service.workers.changed = async (...input) => {
      looks += 1;
      await changed.apply(service.workers, input);
    };
    const proto = Object.getPrototypeOf(scans) as typeof scans;
    const { get } = proto;
    const met = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    proto.get = async function (id) {
      met.resolve();
      await go.promise;
      return await get.call(this, id);
    };
    const leaving = new AbortController();
    const response = fetch(`${base}/api/v1/scans/${scanId}/events`, { signal: leaving.signal });
    await met.promise;
    leaving.abort();
    await response.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 200));
    proto.get = get;
    go.resolve();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(looks).toBe(0);
  });
});
