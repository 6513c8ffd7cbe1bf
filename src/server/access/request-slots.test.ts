import { describe, expect, it } from 'vitest';
import { RequestSlots } from './request-slots.ts';

/** A request that ends by hand. */
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

describe('RequestSlots', () => {
  it('lets a client have so many requests at once, others wait in their order', async () => {
    const slots = new RequestSlots();
    const all = Array.from({ length: 35 }, () => request(slots, 'a'));
    const states = () => all.map(({ state }) => state());
    expect(states()).toEqual([...Array(32).fill('running'), ...Array(3).fill('waiting')]);
    all[5]?.end();
    await settled();
    expect(states().slice(32)).toEqual(['running', 'waiting', 'waiting']);
    for (const one of all) one.end();
    await settled();
    expect(slots.size).toBe(0);
  });

  it('never makes one client wait for another', () => {
    const slots = new RequestSlots();
    for (let n = 0; n < 40; n++) request(slots, 'a');
    expect(request(slots, 'b').state()).toBe('running');
  });

  it('forgets a waiting request whose client has gone', async () => {
    const slots = new RequestSlots();
    const all = Array.from({ length: 34 }, () => request(slots, 'a'));
    all[32]?.end();
    all[0]?.end();
    await settled();
    expect(all.slice(32).map(({ state }) => state())).toEqual(['gone', 'running']);
    for (const one of all.filter((_, n) => n !== 0 && n !== 32)) one.end();
    expect(slots.size).toBe(0);
  });

  it('rejects a request when too many wait', () => {
    const slots = new RequestSlots();
    for (let n = 0; n < 32 + 256; n++) request(slots, 'a');
    expect(() => request(slots, 'a')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  });
});
