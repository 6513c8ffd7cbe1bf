import { describe, expect, it } from 'vitest';
import { forEachItem } from '../../engine/each.ts';
import { SessionPlaces } from './session-places.ts';

const { signal } = new AbortController();

/** Runs sessions that end when told to. @returns the most that ran at a time, with one host and in all */
async function runSessions(places: SessionPlaces, hosts: readonly string[]) {
  const running = new Map<string, number>();
  const most = { perHost: 0, inAll: 0 };
  let inAll = 0;
  const session = async (host: string) => {
    inAll += 1;
    running.set(host, (running.get(host) ?? 0) + 1);
    most.inAll = Math.max(most.inAll, inAll);
    most.perHost = Math.max(most.perHost, running.get(host) ?? 0);
    await new Promise((resolve) => setImmediate(resolve));
    running.set(host, (running.get(host) ?? 0) - 1);
    inAll -= 1;
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  await forEachItem({ signal, log, instanceId: 'x' }, hosts, { concurrency: () => places.limit }, (host) =>
    places.use(host, () => session(host)),
  );
  return most;
}

describe('the places of sessions', () => {
  it('grow with many hosts, up to the rate, and stay at 100 for one of them', async () => {
    const many = Array.from({ length: 6000 }, (_, number) => `10.0.0.${number % 250}`);
    const adaptive = { concurrency: 0, knownOpen: true, signal };
    const wide = await runSessions(new SessionPlaces({ ...adaptive, rate: 5000 }), many);
    expect(wide.inAll).toBeGreaterThan(200);
    expect(wide.inAll).toBeLessThanOrEqual(1000);
    const slow = await runSessions(new SessionPlaces({ ...adaptive, rate: 150 }), many);
    expect(slow.inAll).toBeLessThanOrEqual(150);
    const single = await runSessions(
      new SessionPlaces({ ...adaptive, rate: 5000 }),
      Array(3000).fill('10.0.0.1'),
    );
    expect(single.perHost).toBe(100);
  });

  it('are as many as requested where a number is requested', async () => {
    const places = new SessionPlaces({ concurrency: 300, rate: 10, knownOpen: true, signal });
    expect(await runSessions(places, Array(900).fill('10.0.0.1'))).toEqual({ perHost: 300, inAll: 300 });
  });
});
