import { afterEach, describe, expect, it } from 'vitest';
import { type GrpcService, openGrpcService } from '../fixtures/grpc-service.ts';
import { RequestSlots } from './request-slots.ts';

/** A request that the test ends. */
function request(slots: RequestSlots, client: string) {
  let end = () => undefined as void;
  const turn = slots.enter(client, (work) => (end = work));
  let state = turn === null ? 'running' : 'waiting';
  void turn?.then(
    () => (state = 'running'),
    () => (state = 'gone'),
  );
  return { end: () => end(), state: () => state };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
/** Until all requests have begun that may. */
const turns = async () => {
  for (let turn = 0; turn < 5; turn++) await settled();
};

describe('RequestSlots', () => {
  it('lets a client have so many requests at once, others wait in their order', async () => {
    const slots = new RequestSlots();
    const all = Array.from({ length: 35 }, () => request(slots, 'a'));
    const states = () => all.map(({ state }) => state());
    await turns();
    expect(states()).toEqual([...Array(32).fill('running'), ...Array(3).fill('waiting')]);
    all[5]?.end();
    await settled();
    expect(states().slice(32)).toEqual(['running', 'waiting', 'waiting']);
    for (const one of all) one.end();
    await turns();
    expect(slots.size).toBe(0);
  });

  it('begins eight requests of a client in a turn of the event loop, the others in the next ones', async () => {
    const slots = new RequestSlots();
    const all = Array.from({ length: 20 }, () => request(slots, 'a'));
    const running = () => all.filter(({ state }) => state() === 'running').length;
    expect(running()).toBe(8);
    await settled();
    expect(running()).toBe(16);
    expect(request(slots, 'b').state()).toBe('running');
    await settled();
    expect(running()).toBe(20);
  });

  it('never makes one client wait for another', () => {
    const slots = new RequestSlots();
    for (let n = 0; n < 40; n++) request(slots, 'a');
    expect(request(slots, 'b').state()).toBe('running');
  });

  it('forgets a waiting request whose client has gone', async () => {
    const slots = new RequestSlots();
    const all = Array.from({ length: 34 }, () => request(slots, 'a'));
    await turns();
    all[32]?.end();
    all[0]?.end();
    await settled();
    expect(all.slice(32).map(({ state }) => state())).toEqual(['gone', 'running']);
    for (const one of all.filter((_, n) => n !== 0 && n !== 32)) one.end();
    await turns();
    expect(slots.size).toBe(0);
  });

  it('rejects a request when too many wait', () => {
    const slots = new RequestSlots();
    for (let n = 0; n < 32 + 256; n++) request(slots, 'a');
    expect(() => request(slots, 'a')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  });
});

describe('requests of one token at the same time', () => {
  let grpc: GrpcService;
  let giveBack = () => {};
  afterEach(async () => {
    giveBack();
    await grpc.close();
  });

  /** Delayed scan lists, and how many are in progress. */
  async function start() {
    grpc = await openGrpcService({ 'server.api.auth': true });
    const proto = Object.getPrototypeOf(grpc.service.store.scans) as typeof grpc.service.store.scans;
    const { list } = proto;
    const go = Promise.withResolvers<void>();
    const reading = { now: 0, release: () => go.resolve() };
    proto.list = async function (filter) {
      reading.now += 1;
      await go.promise;
      return await list.call(this, filter);
    };
    giveBack = () => {
      proto.list = list;
      go.resolve();
    };
    return reading;
  }

  const lists = (token: string, count: number) =>
    Array.from({ length: count }, async (_, offset) => {
      const url = `/api/v1/scans?limit=1&offset=${offset}`;
      return await grpc.service.app.inject({ url, headers: { authorization: `Bearer ${token}` } });
    });

  it('are 32, 256 more wait and one more is rejected; others are not concerned', async () => {
    const reading = await start();
    const [token, other] = [await grpc.service.token('scan:read'), await grpc.service.token('scan:read')];
    const requests = lists(token, 32 + 256);
    await expect.poll(() => reading.now).toBe(32);
    const rejected = await lists(token, 1)[0];
    expect([rejected?.statusCode, rejected?.json().error.code]).toEqual([429, 'rate_limited']);
    expect(rejected?.headers['retry-after']).toBeDefined();
    const apart = lists(other, 1);
    await expect.poll(() => reading.now).toBe(33);
    reading.release();
    const statuses = (await Promise.all([...requests, ...apart])).map(({ statusCode }) => statusCode);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(reading.now).toBe(32 + 256 + 1);
  });

  it('are 32 also over gRPC, together with those of REST', async () => {
    const reading = await start();
    const token = await grpc.service.token('scan:read');
    const requests = lists(token, 20);
    const calls = Array.from({ length: 40 }, async () => await grpc.scans(token).call('ListScans'));
    await expect.poll(() => reading.now).toBe(32);
    for (let n = 0; n < 20; n++) await settled();
    expect(reading.now).toBe(32);
    reading.release();
    expect((await Promise.all(calls)).map(({ error }) => error)).toEqual(Array(40).fill(null));
    expect((await Promise.all(requests)).map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(200));
    expect(reading.now).toBe(60);
  });
});
