import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type ChangeSource, type EventSink, ServiceFeed } from './service-feed.ts';

/** Counts its polls; two at once are an error. */
class Counter implements ChangeSource {
  polls = 0;
  #polling = false;

  async poll(sink: EventSink): Promise<void> {
    expect(this.#polling).toBe(false);
    this.#polling = true;
    this.polls += 1;
    await Promise.resolve();
    sink.emit('job', { polls: this.polls });
    this.#polling = false;
  }
}

describe('ServiceFeed', () => {
  it('polls once for all readers, and not at all without one', async () => {
    const counter = new Counter();
    const feed = new ServiceFeed([counter], () => undefined);
    expect(counter.polls).toBe(0);
    const leave = await Promise.all([feed.join(), feed.join(), feed.join()]);
    expect([counter.polls, feed.idleSince]).toEqual([1, null]);
    await expect.poll(() => counter.polls).toBeGreaterThan(2);
    for (const one of leave) one();
    leave[0]?.();
    const seen = counter.polls;
    await sleep(1000);
    expect(counter.polls).toBe(seen);
    expect(feed.idleSince).not.toBeNull();
  });

  it('begins anew with the next reader, with what happened meanwhile', async () => {
    const counter = new Counter();
    const feed = new ServiceFeed([counter], () => undefined);
    (await feed.join())();
    const { last } = feed.ring;
    const leave = await feed.join();
    expect(feed.ring.after(last)).toHaveLength(1);
    await expect.poll(() => counter.polls).toBeGreaterThan(3);
    leave();
  });

  it('reports a source that fails and goes on', async () => {
    const faults: unknown[] = [];
    const failing: ChangeSource = { poll: () => Promise.reject(new Error('store')) };
    const counter = new Counter();
    const feed = new ServiceFeed([failing, counter], (error) => faults.push(error));
    const leave = await feed.join();
    expect([faults.length, counter.polls]).toEqual([1, 1]);
    leave();
  });
});
