import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import type { ShardQueue } from '../../queue/shard-queue.ts';
import type { Store } from '../../store/open.ts';
import type { Presence } from './presence.ts';

/** Timeouts of the end of a canceled scan, milliseconds. */
export interface CancelTimes {
  /** Without a heartbeat of the owner. */
  absent: number;
  /** With a heartbeat of an owner that may be busy; the client has its response by then. */
  present: number;
}
const cancelTimes: CancelTimes = { absent: 8000, present: 60_000 };
/** Timeout of a pause: workers that have not applied it by then count as dead, and their leases expire. */
const pauseMs = 1800;
/** Poll interval of the store meanwhile, milliseconds; the owner's heartbeat is polled less often. */
const lookMs = 100;
const presenceMs = 1000;

/**
 * Scans that another server runs. The store already has the client's request; here it is sent to the workers of their
 * shards at once, so that packets stop even while that server is absent.
 */
export class RemoteScans {
  readonly #store: Store;
  readonly #line: ShardQueue;
  readonly #home: string;
  readonly #presence: Pick<Presence, 'isPresent'>;
  readonly #times: CancelTimes;

  /** @param home id of this server */
  constructor(
    store: Store,
    line: ShardQueue,
    home: string,
    presence: Pick<Presence, 'isPresent'>,
    times = cancelTimes,
  ) {
    this.#store = store;
    this.#line = line;
    this.#home = home;
    this.#presence = presence;
    this.#times = times;
  }

  /** ID of the server that owns a scan; null for this server and for a scan without owner. */
  async homeOf(scanId: string): Promise<string | null> {
    const home = await this.#store.scans.ownerOf(scanId);
    return home === this.#home ? null : home;
  }

  /**
   * Resolves when the end of a canceled scan is stored.
   * @throws PortolanError `unavailable` if the server that must store it is absent
   */
  async cancel(scanId: string): Promise<void> {
    const owner = await this.homeOf(scanId);
    if (owner === null) return;
    await this.#line.command(scanId, 'cancel');
    const isOver = async () => !(await this.#store.scanQueue.isRunning(scanId));
    if (await inTime(isOver, this.#times.absent)) return;
    const deadline = performance.now() + this.#times.present;
    while (performance.now() < deadline && (await this.#presence.isPresent(owner)))
      if (await inTime(isOver, presenceMs)) return;
    const message =
      'The server that runs the scan does not respond. Its workers were asked to stop; it ends the scan when it is back, or the server that takes over does.';
    throw new PortolanError('unavailable', message);
  }

  /** Resolves when all workers of the scan have stopped sending. */
  async pause(scanId: string): Promise<void> {
    if ((await this.homeOf(scanId)) === null) return;
    await this.#line.command(scanId, 'pause');
    const isSilent = async () => {
      const shards = await this.#store.shards.ofScan(scanId);
      return shards.every(({ state, applied_command }) => state !== 'running' || applied_command === 'pause');
    };
    await inTime(isSilent, pauseMs);
  }

  /** Does not resume a scan in a blackout window of its server. */
  async resume(scanId: string): Promise<void> {
    if ((await this.homeOf(scanId)) === null || (await this.#store.scanPauses.isInBlackout(scanId))) return;
    await this.#line.command(scanId, 'run');
  }
}

/** @returns false on timeout */
async function inTime(holds: () => Promise<boolean>, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) return false;
    await sleep(lookMs);
  }
  return true;
}
