import { describe, expect, it } from 'vitest';
import { forEachItem } from '../../engine/each.ts';
import { SessionPlaces, type SessionReport } from './session-places.ts';

const { signal } = new AbortController();

/** Runs sessions that end in the next turn. @returns the most that ran at a time, with one host and in all */
async function runSessions(
  places: SessionPlaces,
  hosts: readonly string[],
  note: (report: SessionReport, running: number) => void = ({ connected }) => connected(),
) {
  const running = new Map<string, number>();
  const most = { perHost: 0, inAll: 0 };
  let inAll = 0;
  const session = async (host: string, report: SessionReport) => {
    inAll += 1;
    running.set(host, (running.get(host) ?? 0) + 1);
    most.inAll = Math.max(most.inAll, inAll);
    most.perHost = Math.max(most.perHost, running.get(host) ?? 0);
    await new Promise((resolve) => setImmediate(resolve));
    note(report, running.get(host) ?? 0);
    await new Promise((resolve) => setImmediate(resolve));
    running.set(host, (running.get(host) ?? 0) - 1);
    inAll -= 1;
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  await forEachItem({ signal, log, instanceId: 'x' }, hosts, { concurrency: () => places.limit }, (host) =>
    places.use(host, (report) => session(host, report)),
  );
  return most;
}

const one = (sessions: number) => Array<string>(sessions).fill('10.0.0.1');

describe('the places of sessions', () => {
  const adaptive = { concurrency: 0, knownOpen: true, signal };

  it('grow with connections, for many hosts and for one, up to the rate', async () => {
    const many = Array.from({ length: 6000 }, (_, number) => `10.0.0.${number % 250}`);
    const wide = await runSessions(new SessionPlaces({ ...adaptive, rate: 5000 }), many);
    expect(wide.inAll).toBeGreaterThan(200);
    expect(wide.inAll).toBeLessThanOrEqual(1000);
    const slow = await runSessions(new SessionPlaces({ ...adaptive, rate: 150 }), many);
    expect(slow.inAll).toBeLessThanOrEqual(150);
    const single = await runSessions(new SessionPlaces({ ...adaptive, rate: 5000 }), one(3000));
    expect(single.perHost).toBeGreaterThan(500);
  });

  it('grow while all sessions of a host wait for silent services', async () => {
    const places = new SessionPlaces({ ...adaptive, rate: 5000 });
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let running = 0;
    const sessions = one(1000).map((host) =>
      places.use(host, async ({ connected }) => {
        running += 1;
        connected();
        await ended;
      }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(running).toBe(1000);
    end();
    await Promise.all(sessions);
  });

  it('stay few for a host that drops connections, and grow for another', async () => {
    const places = new SessionPlaces({ ...adaptive, rate: 5000 });
    const dropping = await runSessions(places, one(3000), ({ connected, failed }, running) => {
      if (running > 200) failed({ state: 'filtered', reason: 'no-response', latencyMs: 0 });
      else connected();
    });
    expect(dropping.perHost).toBeLessThan(500);
  });

  it('are as many as requested where a number is requested', async () => {
    const places = new SessionPlaces({ concurrency: 300, rate: 10, knownOpen: true, signal });
    expect(await runSessions(places, one(900))).toEqual({ perHost: 300, inAll: 300 });
  });

  it('are given to all when the scan ends', async () => {
    const scan = new AbortController();
    const places = new SessionPlaces({ ...adaptive, rate: 5000, signal: scan.signal });
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let running = 0;
    const sessions = one(300).map((host) =>
      places.use(host, async () => {
        running += 1;
        await ended;
      }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(running).toBe(100);
    scan.abort();
    await new Promise((resolve) => setImmediate(resolve));
    expect(running).toBe(300);
    end();
    await Promise.all(sessions);
  });
});
