import type { ServiceFeed } from './service-feed.ts';

/** A feed without readers is dropped after this time, milliseconds: who comes back later starts anew. */
const idleMs = 300_000;

/** The feed of each tenant that somebody follows. */
export class ServiceEvents {
  readonly #feeds = new Map<string, ServiceFeed>();

  /** @param open makes the feed of a tenant that nobody follows */
  of(tenant: string | null, open: () => ServiceFeed): ServiceFeed {
    this.#dropIdle();
    const key = tenant ?? '';
    const known = this.#feeds.get(key);
    if (known) return known;
    const feed = open();
    this.#feeds.set(key, feed);
    return feed;
  }

  /** Reports the shutdown to all readers. @param saved scans that were stopped at their checkpoint */
  reportDraining(scans: { running: number; saved: number }): void {
    for (const feed of this.#feeds.values()) feed.emit('draining', scans);
  }

  #dropIdle(): void {
    const now = performance.now();
    for (const [key, { idleSince }] of this.#feeds)
      if (idleSince !== null && now - idleSince > idleMs) this.#feeds.delete(key);
  }
}
