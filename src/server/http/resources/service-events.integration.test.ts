import { afterEach, describe, expect, it } from 'vitest';
import { createToken } from '../../../actions/access/create-token.ts';
import { revokeToken } from '../../../actions/access/revoke-token.ts';
import { isFinal } from '../../../domain/scan.ts';
import { openService, type Service } from '../../fixtures/service.ts';

const open: Service[] = [];
const streams: Stream[] = [];
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.leave();
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

/** A reader of the events of a service. */
class Stream {
  readonly events: Event[] = [];
  readonly status: number;
  readonly ended: Promise<void>;
  isOver = false;
  readonly #gone: AbortController;

  static async open(url: string, headers: Record<string, string> = {}): Promise<Stream> {
    const gone = new AbortController();
    const response = await fetch(url, { headers, signal: gone.signal });
    const stream = new Stream(response, gone);
    streams.push(stream);
    return stream;
  }

  private constructor(response: Response, gone: AbortController) {
    this.#gone = gone;
    this.status = response.status;
    this.ended = this.#read(response)
      .catch(() => undefined)
      .finally(() => {
        this.isOver = true;
      });
  }

  leave(): void {
    this.#gone.abort();
  }

  /** The id that a client sends when it comes back. */
  get lastId(): string {
    return this.events.findLast(({ id }) => id !== undefined)?.id ?? '';
  }

  named(name: string): Event[] {
    return this.events.filter(({ event }) => event === name);
  }

  /** Waits for an event. */
  async until(wanted: (event: Event) => boolean): Promise<Event> {
    await expect.poll(() => this.events.some(wanted)).toBe(true);
    return this.events.find(wanted) as Event;
  }

  async #read(response: Response): Promise<void> {
    let rest = '';
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) this.events.push(parse(block));
    }
  }
}

function parse(block: string): Event {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
  return { ...fields, data: JSON.parse(fields['data']) } as Event;
}

const hosts = (stream: Stream) => stream.named('host').map(({ data }) => data['host']);
const statesOf = (stream: Stream, scanId: string) =>
  stream.named('scan').flatMap(({ data }) => (data['scan_id'] === scanId ? [data['status']] : []));

describe('the events of the service', () => {
  it('begin with hello, then show a scan from its submission to its end and its deletion', async () => {
    const { service, base } = await start();
    const stream = await Stream.open(`${base}/api/v1/events`);
    const hello = await stream.until(({ event }) => event === 'hello');
    expect(stream.events[0]).toBe(hello);
    expect(hello.data).toEqual({
      server_time: expect.stringMatching(/Z$/),
      version: '0.0.0',
      epoch: expect.stringMatching(/^[0-9a-f]{12}$/),
      draining: false,
    });
    const scanId = await service.submit('rows 3', {
      targets: ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'],
    });
    const last = await stream.until(
      ({ data }) => data['scan_id'] === scanId && data['status'] === 'completed',
    );
    expect(last).toMatchObject({
      event: 'scan',
      data: { name: 'rows 3', targets: ['127.0.0.1', '127.0.0.2', '127.0.0.3'], targets_total: 4 },
    });
    expect(statesOf(stream, scanId).at(-1)).toBe('completed');
    await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${scanId}` });
    await stream.until(({ event, data }) => event === 'scan_deleted' && data['scan_id'] === scanId);
    expect((await stream.until(({ event }) => event === 'health')).data).toHaveProperty('status');
    expect(stream.named('host')).toEqual([]);
    await stream.until(({ event, data }) => event === 'time' && typeof data['server_time'] === 'string');
  });

  it('show pause, jobs and the progress of running scans', async () => {
    const { service, base } = await start();
    const stream = await Stream.open(`${base}/api/v1/events`);
    await stream.until(({ event }) => event === 'hello');
    const scanId = await service.submit('hang');
    await stream.until(({ data }) => data['scan_id'] === scanId && data['status'] === 'running');
    const isHang = ({ data }: Event) => data['scan_id'] === scanId;
    await stream.until(
      (one) => isHang(one) && (one.data['results'] as { live_hosts: number }).live_hosts === 1,
    );
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/pause` });
    await stream.until((one) => isHang(one) && (one.data['progress'] as { paused: boolean }).paused);
    const payload = { type: 'scan', params: { targets: ['127.0.0.1'], name: 'rows 1' } };
    const { job_id } = (await service.app.inject({ method: 'POST', url: '/api/v1/jobs', payload })).json()
      .data;
    await stream.until(({ event, data }) => event === 'job' && data['job_id'] === job_id);
  });

  it('carry the records of a followed scan from now on, or from a row on', async () => {
    const { service, base } = await start();
    const scanId = await service.submit('hang');
    await service.until(scanId, ({ results }) => results.live_hosts === 1);
    const now = await Stream.open(`${base}/api/v1/events?scan=${scanId}`);
    const all = await Stream.open(`${base}/api/v1/events?scan=${scanId}@0`);
    await all.until(({ event }) => event === 'host');
    await now.until(({ event }) => event === 'status');
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    for (const stream of [now, all]) await stream.until(({ event }) => event === 'end');
    expect(hosts(all)).toEqual(['127.0.0.1']);
    expect(all.named('host')[0]?.data).toMatchObject({ scan_id: scanId, type: 'host' });
    expect(all.named('progress')[0]?.data).toMatchObject({ scan_id: scanId, stages: [] });
    expect(hosts(now)).toEqual([]);
    expect(now.named('status')[0]?.id).toMatch(new RegExp(`;${scanId}=1$`));
    expect(now.isOver).toBe(false);
  });

  it('are replayed without a gap after Last-Event-ID while scans write', async () => {
    const { service, base } = await start({ 'server.workers': 2 });
    const ids = [await service.submit('drip 150'), await service.submit('drip 150')];
    const query = ids.map((id) => `scan=${id}@0`).join('&');
    const found = new Map(ids.map((id) => [id, [] as unknown[]]));
    const [other, seen] = [[] as string[], new Set<string>()];
    let lastId: string | null = null;
    for (let round = 0; ; round++) {
      const headers: Record<string, string> = lastId === null ? {} : { 'last-event-id': lastId };
      const stream: Stream = await Stream.open(`${base}/api/v1/events?${query}`, headers);
      await stream.until(({ event }) => event === 'hello');
      if (round < 8) other.push(await service.submit(`rows ${round}`));
      await expect.poll(() => hosts(stream).length >= 20 || stream.named('end').length === 2).toBe(true);
      stream.leave();
      await stream.ended;
      expect(stream.named('reset')).toEqual([]);
      for (const { data } of stream.named('host')) found.get(String(data['scan_id']))?.push(data['host']);
      for (const scanId of statesSeen(stream)) seen.add(scanId);
      lastId = stream.lastId;
      const counts = [...found.values()].map(({ length }) => length);
      if (counts.every((count) => count === 150)) break;
      expect(counts.every((count) => count <= 150)).toBe(true);
    }
    for (const rows of found.values())
      expect(rows).toEqual(Array.from({ length: 150 }, (_, index) => `127.0.0.${index + 1}`));
    const rest = await Stream.open(`${base}/api/v1/events`, { 'last-event-id': lastId });
    for (const scanId of other) await service.until(scanId, ({ status }) => isFinal(status));
    await expect
      .poll(() => other.every((scanId) => seen.has(scanId) || statesSeen(rest).has(scanId)))
      .toBe(true);
  });

  it('of one tenant are not those of another', async () => {
    const { service, base } = await start({
      'multi_tenant.enabled': true,
      'multi_tenant.tenants': 'acme,globex',
      'server.api.auth': true,
      'server.workers': 2,
    });
    const headersOf = async (tenant: string) => {
      const scopes = ['scan:read', 'scan:write', 'job:write'];
      const { token } = await createToken(service.store, { name: 'test', scopes, expiry: '1h', tenant });
      return { authorization: `Bearer ${token}`, 'x-tenant-id': tenant };
    };
    const [acme, globex] = [await headersOf('acme'), await headersOf('globex')];
    const submit = async (headers: Record<string, string>, name: string) => {
      const payload = { targets: ['127.0.0.1'], name };
      const response = await service.app.inject({ method: 'POST', url: '/api/v1/scans', payload, headers });
      return String(response.json().data.scan_id);
    };
    const theirs = await Stream.open(`${base}/api/v1/events`, acme);
    const own = await Stream.open(`${base}/api/v1/events`, globex);
    for (const stream of [theirs, own]) await stream.until(({ event }) => event === 'hello');
    const secret = await submit(acme, 'rows 3');
    const visible = await submit(globex, 'rows 2');
    const payload = { type: 'scan', params: { targets: ['127.0.0.1'], name: 'rows 1' } };
    await service.app.inject({ method: 'POST', url: '/api/v1/jobs', payload, headers: acme });
    await theirs.until(({ data }) => data['scan_id'] === secret && data['status'] === 'completed');
    await own.until(({ data }) => data['scan_id'] === visible && data['status'] === 'completed');
    await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${secret}`, headers: acme });
    await theirs.until(({ event }) => event === 'scan_deleted');
    await theirs.until(({ event }) => event === 'job');
    expect(JSON.stringify(own.events)).not.toContain(secret);
    expect(own.named('job')).toEqual([]);
    expect(JSON.stringify(theirs.events)).not.toContain(visible);
    const prying = await Stream.open(`${base}/api/v1/events?scan=${visible}@0`, acme);
    const unknown = await prying.until(({ event }) => event === 'scan_deleted');
    expect(unknown.data).toEqual({ scan_id: visible });
    expect(prying.named('host')).toEqual([]);
    const foreign = await Stream.open(`${base}/api/v1/events`, { ...acme, 'x-tenant-id': 'globex' });
    expect(foreign.status).toBe(403);
  });

  it('require a token, and end when it is revoked', async () => {
    const { service, base } = await start({ 'server.api.auth': true });
    expect((await Stream.open(`${base}/api/v1/events`)).status).toBe(401);
    const headers = async (...scopes: string[]) => ({
      authorization: `Bearer ${await service.token(...scopes)}`,
    });
    expect((await Stream.open(`${base}/api/v1/events`, await headers('audit:read'))).status).toBe(403);
    const reader = await headers('scan:read');
    const stream = await Stream.open(`${base}/api/v1/events`, reader);
    await stream.until(({ event }) => event === 'hello');
    expect(stream.isOver).toBe(false);
    await revokeToken(service.store, reader.authorization.split('_')[1] as string);
    await stream.ended;
    expect((await Stream.open(`${base}/api/v1/events`, reader)).status).toBe(401);
  });

  it('reject bad positions and scans, and streams beyond the cap', async () => {
    const { base } = await start({ 'server.streams.per_token': 2 });
    const url = `${base}/api/v1/events`;
    expect((await Stream.open(url, { 'last-event-id': 'x' })).status).toBe(400);
    for (const query of ['scan=x', 'scan=', `scan=${'y'.repeat(100)}`])
      expect((await Stream.open(`${url}?${query}`)).status).toBe(400);
    const many = Array.from({ length: 17 }, (_, index) => `scan=20261006-143022-a1b2${100 + index}`);
    expect((await Stream.open(`${url}?${many.join('&')}`)).status).toBe(400);
    const held = [await Stream.open(url), await Stream.open(url)];
    for (const stream of held) await stream.until(({ event }) => event === 'hello');
    const rejected = await fetch(url);
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await rejected.json()).toMatchObject({ error: { code: 'rate_limited' } });
    held[0]?.leave();
    await expect.poll(async () => (await Stream.open(url)).status).toBe(200);
  });

  it('end with the shutdown of the server', async () => {
    const { service, base } = await start();
    const stream = await Stream.open(`${base}/api/v1/events`);
    await stream.until(({ event }) => event === 'hello');
    open.splice(0);
    service.context.events.reportDraining({ running: 1, saved: 0 });
    await Promise.all([service.close(), stream.ended]);
    expect(stream.named('draining').map(({ data }) => data)).toEqual([{ running: 1, saved: 0 }]);
  });
});

function statesSeen(stream: Stream): Set<string> {
  return new Set(stream.named('scan').map(({ data }) => String(data['scan_id'])));
}
