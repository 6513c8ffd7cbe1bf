import { beforeEach, describe, expect, it } from 'vitest';
import { RecentResponses } from './recent-responses.ts';

interface Response {
  response: unknown;
  size: number;
}

let now: number;
let computed: number;
let late: PromiseWithResolvers<void>;
let recent: RecentResponses<Response>;
beforeEach(() => {
  now = 0;
  computed = 0;
  late = Promise.withResolvers<void>();
  recent = new RecentResponses(
    () => now,
    () => late.promise,
  );
});

const key = 'scan a: rows';

/** @param tookMs time that a response takes, milliseconds. @returns its number */
async function request(tookMs: number, { of = key, size = 20_000, text = '' } = {}): Promise<unknown> {
  const compute = async () => {
    const response = { number: ++computed, records: text };
    now += tookMs;
    return { response, size };
  };
  const { response } = await recent.response(of, compute);
  return (response as { number: number }).number;
}

describe('responses about a growing record', () => {
  it('are computed each time while that is quick', async () => {
    expect([await request(19), await request(19), await request(19)]).toEqual([1, 2, 3]);
  });

  it('are those of a moment ago when one that is usually quick takes long', async () => {
    await request(10);
    const next = Promise.withResolvers<Response>();
    const response = recent.response(key, () => next.promise);
    late.resolve();
    expect((await response).response).toMatchObject({ number: 1 });
    now += 300;
    next.resolve({ response: { number: 2 }, size: 20_000 });
    await next.promise;
    expect([await request(10), computed]).toEqual([2, 1]);
  });

  it('are computed each time from a small index, however busy the machine', async () => {
    const small = { size: 19_999 };
    expect([await request(900, small), await request(900, small)]).toEqual([1, 2]);
  });

  it('are fresh for ten times what they took', async () => {
    await request(50);
    now = 500;
    expect([await request(50), computed]).toEqual([1, 1]);
  });

  it('are fresh for a second at most', async () => {
    await request(900);
    now = 1001;
    await request(900);
    expect(computed).toBe(2);
  });

  it('come from memory while the next one is computed, once for all clients', async () => {
    await request(50);
    now = 600;
    const next = Promise.withResolvers<Response>();
    const compute = () => {
      computed += 1;
      return next.promise;
    };
    const numberNow = async () => (await recent.response(key, compute)).response;
    expect(await numberNow()).toMatchObject({ number: 1 });
    expect(await numberNow()).toMatchObject({ number: 1 });
    expect(computed).toBe(2);
    now = 700;
    next.resolve({ response: { number: 2 }, size: 20_000 });
    await next.promise;
    expect(await numberNow()).toMatchObject({ number: 2 });
    expect(computed).toBe(2);
  });

  it('are never older than five seconds', async () => {
    await request(50);
    now = 5001;
    expect(await request(50)).toBe(2);
  });

  it('are computed for the client that asks after a failure', async () => {
    await request(50);
    now = 600;
    const failure = Promise.reject(new Error('disk'));
    expect((await recent.response(key, () => failure)).response).toMatchObject({ number: 1 });
    await failure.catch(() => undefined);
    await Promise.resolve();
    expect(await request(50)).toBe(2);
  });

  it('go with their scan', async () => {
    const [a, b] = [{ of: 'scan a: rows' }, { of: 'scan b: rows' }];
    await request(50, a);
    await request(50, b);
    recent.forget('scan a: ');
    expect([await request(50, a), await request(50, b)]).toEqual([3, 2]);
  });

  it('are few', async () => {
    for (let number = 0; number < 17; number++) await request(50, { of: `scan ${number}` });
    expect([await request(50, { of: 'scan 16' }), await request(50, { of: 'scan 0' })]).toEqual([17, 18]);
  });

  it('are not remembered when they are long', async () => {
    const long = { text: 'x'.repeat(262_145) };
    expect([await request(50, long), await request(50, long)]).toEqual([1, 2]);
  });
});
