import { receiverOf } from '../domain/channel.ts';
import type { Store } from '../store/open.ts';
import type { PendingNotification } from '../store/outbox.ts';

/** Maximum number of notifications read at once. */
export const maxDue = 100;

/** When a notification is due again. */
export interface NextAttempt {
  /** Attempts so far. */
  attempts: number;
  afterMs: number;
}

/** Pending notifications, to be claimed and sent. */
export interface NotificationQueue {
  /** Call it before the first claim. */
  open(): Promise<void>;
  /**
   * Claims notifications that are due, the oldest first. There may be more until it finds none.
   * @param mostEach maximum number of claimed ones per receiver
   */
  claim(most: number, mostEach: number): Promise<PendingNotification[]>;
  /**
   * Stores the end of an attempt. @param inside a transaction @param next null without another attempt
   * @returns false if somebody else has claimed the notification by now
   */
  endAttempt(inside: Store, notification: PendingNotification, next: NextAttempt | null): Promise<boolean>;
  /** Ends a claim. @param isEnded whether `endAttempt` was committed; otherwise the notification is due at once */
  release(notification: PendingNotification, isEnded: boolean): Promise<void>;
  close(): void;
}

/** Stores the end of an attempt in the outbox. */
export async function updateOutbox(
  inside: Store,
  { id }: PendingNotification,
  next: NextAttempt | null,
): Promise<void> {
  if (next === null) await inside.outbox.delete(id);
  else await inside.outbox.postpone(id, next.attempts, Date.now() + next.afterMs);
}

/** Those of a server without others: claims are in its memory, and end with it. */
export class OwnNotifications implements NotificationQueue {
  readonly #store: Store;
  /** Receivers, by id. */
  readonly #claimed = new Map<string, string>();

  /** @param store of all tenants */
  constructor(store: Store) {
    this.#store = store;
  }

  async open(): Promise<void> {}

  async claim(most: number, mostEach: number): Promise<PendingNotification[]> {
    const { outbox, executor } = this.#store;
    const isFull = (receiver: string) =>
      [...this.#claimed.values()].filter((one) => one === receiver).length >= mostEach;
    const full = [...new Set(this.#claimed.values())].filter(isFull);
    const claimed: PendingNotification[] = [];
    for (const notification of await outbox.due(executor, Date.now(), maxDue, full)) {
      const receiver = receiverOf(notification.channel);
      if (claimed.length === most) break;
      if (this.#claimed.has(notification.id) || isFull(receiver)) continue;
      this.#claimed.set(notification.id, receiver);
      claimed.push(notification);
    }
    return claimed;
  }

  async endAttempt(
    inside: Store,
    notification: PendingNotification,
    next: NextAttempt | null,
  ): Promise<boolean> {
    await updateOutbox(inside, notification, next);
    return true;
  }

  async release({ id }: PendingNotification): Promise<void> {
    this.#claimed.delete(id);
  }

  close(): void {}
}
