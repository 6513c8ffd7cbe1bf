import { describe, expect, it } from 'vitest';
import { HostQueues } from './host-queues.ts';

describe('queues of hosts', () => {
  it('let a host have as many packets as its rate gives, and no burst', () => {
    const queues = new HostQueues(Uint32Array.of(1000, 100_000), 10, 0);
    const taken = (host: number, now: number) => {
      let count = 0;
      while (queues.take(host, now)) count += 1;
      return count;
    };
    expect([taken(0, 0), taken(1, 0)]).toEqual([1, 1]);
    expect([taken(0, 5), taken(1, 5)]).toEqual([5, 500]);
    // 10 ms at the most, however long ago.
    expect([taken(0, 500), taken(1, 500)]).toEqual([10, 1000]);
  });

  it('follow a rate that changes', () => {
    const rates = Uint32Array.of(1000);
    const queues = new HostQueues(rates, 10, 0);
    while (queues.take(0, 0));
    rates[0] = 100;
    expect([queues.take(0, 5), queues.take(0, 10), queues.take(0, 11)]).toEqual([false, true, false]);
  });

  it('keep endpoints in order, by host', () => {
    const queues = new HostQueues(Uint32Array.of(1, 1, 1), 9, 0);
    for (const [host, endpoint] of [
      [0, 2],
      [2, 7],
      [0, 1],
      [0, 0],
    ] as const)
      queues.push(host, endpoint);
    expect([queues.size, queues.queues, queues.isFull, queues.hasQueue(1)]).toEqual([4, 2, false, false]);
    expect([queues.queuedHost(0), queues.queuedHost(1)]).toEqual([0, 2]);
    const order: number[] = [];
    for (let more = true; more; ) {
      order.push(queues.peek(0));
      more = queues.drop(0);
    }
    expect(order).toEqual([2, 1, 0]);
    expect([queues.size, queues.queues, queues.queuedHost(0), queues.hasQueue(0)]).toEqual([1, 1, 2, false]);
    queues.push(0, 5);
    queues.push(1, 3);
    expect([queues.isFull, queues.peek(0), queues.peek(1), queues.peek(2)]).toEqual([true, 5, 3, 7]);
  });
});
