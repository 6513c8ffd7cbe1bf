import { PgBoss } from 'pg-boss';
import { afterEach, expect, it, vi } from 'vitest';
import { freePort, postgresObstacle, storeDatabase } from '../../test/postgres.ts';
import { Dispatcher } from './dispatcher.ts';

/** Longest timer of Node.js, milliseconds: it fires longer ones at once. */
const longestTimer = 2 ** 31 - 1;
const day = 24 * 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it.skipIf(postgresObstacle() !== null)('a closed dispatcher reports no failures', async () => {
  const listening = vi.spyOn(PgBoss.prototype, 'on');
  const failures: unknown[] = [];
  const dispatcher = await Dispatcher.start(await storeDatabase(), (error) => failures.push(error));
  const boss = listening.mock.contexts[0] as PgBoss;
  boss.emit('error', new Error('a background failure'));
  expect(failures).toHaveLength(1);
  await dispatcher.close();
  // Another one is due only after a minute.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 120_000);
  boss.emit('error', new Error('terminating connection due to administrator command'));
  expect(failures).toHaveLength(1);
});

it('a dispatcher that cannot reach the database says so: a worker that starts waits for it', async () => {
  const url = `postgres://portolan@127.0.0.1:${await freePort()}/missing`;
  await expect(Dispatcher.start(url, () => undefined)).rejects.toMatchObject({ code: 'unavailable' });
});

it.skipIf(postgresObstacle() !== null)(
  'a dispatcher does not turn in circles when the clock of its host is set back by weeks',
  async () => {
    const waits = await waitsAfterClockChange(await storeDatabase());
    expect(waits).not.toEqual([]);
    expect(waits.filter((ms) => ms > longestTimer)).toEqual([]);
  },
);

/** The timers of a dispatcher after its host's clock was set back, milliseconds each. */
async function waitsAfterClockChange(url: string): Promise<number[]> {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  // No spy: restored after the real timers, it would put the fake one back for every later test of this process.
  const waits: number[] = [];
  const fake = globalThis.setTimeout;
  globalThis.setTimeout = Object.assign((...args: Parameters<typeof fake>) => {
    waits.push(args[1] ?? 0);
    return fake(...args);
  }, fake);
  try {
    // Connect timeouts use the fake clock.
    const dispatcher = await Dispatcher.start(url, () => undefined);
    waits.length = 0;
    vi.setSystemTime(Date.now() - 60 * day);
    // pg-boss runs its supervision.
    await vi.advanceTimersByTimeAsync(10_500);
    const supervised = [...waits];
    vi.useRealTimers();
    await dispatcher.close();
    return supervised;
  } finally {
    vi.useRealTimers();
  }
}
