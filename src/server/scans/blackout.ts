import type { BlackoutWindow } from '../../domain/time/scan-calendar.ts';
import type { PoolContext } from './pool-context.ts';
import { slotFields } from './scan-slot.ts';

type BlackoutContext = Pick<PoolContext, 'slots' | 'store' | 'shards' | 'news' | 'log'>;

/**
 * Stops all scans from sending during a blackout window. Does not affect pauses: what a client paused or resumed
 * before and during the window holds after it.
 */
export class Blackout {
  readonly #context: BlackoutContext;
  #window: BlackoutWindow | null = null;
  /** Scans that are marked in the store. */
  #marked: ReadonlySet<string> = new Set();
  /** The store may have marks, including those of the previous server, outside of a window. */
  #mayBeMarked = true;

  constructor(context: BlackoutContext) {
    this.#context = context;
  }

  /** Null while scans may send. */
  get window(): BlackoutWindow | null {
    return this.#window;
  }

  /** Whether the window stops this scan from sending. */
  concerns(scanId: string): boolean {
    return this.#window !== null && (this.#context.slots.has(scanId) || this.#marked.has(scanId));
  }

  /** Pauses or resumes the running scans. @returns whether a window started or ended */
  set(window: BlackoutWindow | null): boolean {
    const turns = (window === null) !== (this.#window === null);
    this.#window = window;
    if (turns) this.#apply();
    return turns;
  }

  #apply(): void {
    const { slots, news, log } = this.#context;
    for (const slot of slots.values()) {
      const { scanId, process, paused } = slot;
      if (this.#window) {
        process
          ?.pause()
          .catch((err: unknown) => log.error({ err, ...slotFields(slot) }, 'cannot pause a scan'));
      } else if (!paused) process?.resume();
      news.emit(scanId);
    }
  }

  /**
   * Marks all scans in the store during a window, including those added since the last call; otherwise removes the
   * marks.
   */
  async storeMarks(): Promise<void> {
    if (this.#window !== null) await this.#mark();
    else if (this.#mayBeMarked) await this.#unmark();
  }

  async #mark(): Promise<void> {
    const { store, shards, news } = this.#context;
    this.#mayBeMarked = true;
    const marked = await store.scanPauses.startBlackout(Date.now(), shards?.home);
    const added = marked.filter((scanId) => !this.#marked.has(scanId));
    for (const scanId of added) await this.#pauseShards(scanId);
    this.#marked = new Set(marked);
    for (const scanId of added) news.emit(scanId);
  }

  async #unmark(): Promise<void> {
    const { store, shards, news } = this.#context;
    await store.scanPauses.endBlackout(Date.now(), shards?.home);
    this.#mayBeMarked = false;
    const before = this.#marked;
    this.#marked = new Set();
    for (const scanId of before) news.emit(scanId);
  }

  /** Remote workers may run shards of a scan without a slot here: a marked scan is not claimed. */
  async #pauseShards(scanId: string): Promise<void> {
    const { slots, shards } = this.#context;
    if (!slots.has(scanId)) await shards?.line.command(scanId, 'pause');
  }
}
