import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import type { ShardQueue } from '../../queue/shard-queue.ts';
import type { Store } from '../../store/open.ts';
import type { Presence } from './presence.ts';

/** How long the end of a canceled scan is awaited, milliseconds. */
export interface CancelTimes {
  /** Of an owner without a heartbeat. */
  absent: number;
  /** Of one with a heartbeat, which may be busy; the client has its response by then. */
  present: number;
}
const cancelTimes: CancelTimes = { absent: 8000, present: 60_000 };
/** Workers that do not keep to a pause by then are as good as gone; their leases end by themselves. */
const pauseMs = 1800;
/** The store is looked at this often meanwhile, milliseconds; the heartbeat of the owner less often. */
const lookMs = 100;
const presenceMs = 1000;

/**
 * Scans that another server runs. What is wanted of them stands in the store already; here the workers of their shards
 * and that server are told at once, so that packets stop even while that server is away.
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
   * Resolves when a canceled scan is stored as ended.
   * @throws PortolanError `unavailable` when the server that has to store it is away
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
      'The server that runs the scan does not respond. Its workers were asked to stop; it ends the scan when it is back.';
    throw new PortolanError('unavailable', message);
  }

  /** Resolves when no worker of the scan sends any more. */
  async pause(scanId: string): Promise<void> {
    if ((await this.homeOf(scanId)) === null) return;
    await this.#line.command(scanId, 'pause');
    const isSilent = async () => {
      const shards = await this.#store.shards.ofScan(scanId);
      return shards.every(({ state, applied_command }) => state !== 'running' || applied_command === 'pause');
    };
    await inTime(isSilent, pauseMs);
  }

  /** What the server of the scan holds goes on when that lets it. */
  async resume(scanId: string): Promise<void> {
    if ((await this.homeOf(scanId)) === null || (await this.#store.scanPauses.isInBlackout(scanId))) return;
    await this.#line.command(scanId, 'run');
  }
}

/** @returns whether it came to hold */
async function inTime(holds: () => Promise<boolean>, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) return false;
    await sleep(lookMs);
  }
  return true;
}
