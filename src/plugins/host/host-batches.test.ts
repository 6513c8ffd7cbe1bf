import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hostBatches, hostOf, type InputBatch, WholeValue } from './host-batches.ts';

/** An input that a test feeds. */
class Feed implements AsyncIterable<unknown> {
  readonly #items: unknown[] = [];
  #ended = false;
  #error: Error | null = null;
  #wake: (() => void) | null = null;
  /** Items that were read. */
  read = 0;
  closed = false;

  push(...items: unknown[]): this {
    this.#items.push(...items);
    this.#wake?.();
    return this;
  }

  end(): this {
    this.#ended = true;
    this.#wake?.();
    return this;
  }

  fail(error: Error): void {
    this.#error = error;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<unknown> {
    return {
      next: async () => {
        while (this.#items.length === 0 && !this.#ended && !this.#error) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        if (this.#error) throw this.#error;
        if (this.#items.length === 0) return { done: true, value: undefined };
        this.read += 1;
        return { done: false, value: this.#items.shift() };
      },
      return: async () => {
        this.closed = true;
        return { done: true, value: undefined };
      },
    };
  }
}

const limits = { hosts: 2, maxWaitMs: 20 };
const banner = (host: string, port: number) => ({ host, port });

async function all(batches: AsyncIterable<InputBatch>): Promise<InputBatch[]> {
  return await Array.fromAsync(batches);
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('batches of one key', () => {
  it('end at the number of hosts', async () => {
    const banners = new Feed().push(banner('a', 1), banner('a', 2), banner('b', 1), banner('c', 1)).end();
    expect(await all(hostBatches({ banners }, limits))).toEqual([
      { banners: [banner('a', 1), banner('a', 2), banner('b', 1)] },
      { banners: [banner('c', 1)] },
    ]);
  });

  it('end at the number of items', async () => {
    const banners = new Feed().push(banner('a', 1), banner('a', 2), banner('a', 3)).end();
    const batches = await all(hostBatches({ banners }, { ...limits, items: 2 }));
    expect(batches.map((batch) => (batch['banners'] as unknown[]).length)).toEqual([2, 1]);
  });

  it('end at the size of the items', async () => {
    const banners = new Feed().push(banner('a', 1), banner('b', 2), banner('c', 3)).end();
    const batches = await all(
      hostBatches({ banners }, { hosts: 9, maxWaitMs: 20, bytes: 7, sizeOf: () => 5 }),
    );
    expect(batches.map((batch) => (batch['banners'] as unknown[]).length)).toEqual([2, 1]);
  });

  it('come after the wait where nothing more arrives', async () => {
    const banners = new Feed().push(banner('a', 1));
    const batches = hostBatches({ banners }, limits);
    let first: unknown = null;
    const next = batches.next().then(({ value }) => {
      first = value;
    });
    await vi.advanceTimersByTimeAsync(19);
    expect(first).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    await next;
    expect(first).toEqual({ banners: [banner('a', 1)] });
    banners.end();
    expect((await batches.next()).done).toBe(true);
  });

  it('read no more than one batch in advance', async () => {
    const banners = new Feed();
    for (let port = 0; port < 100; port += 1) banners.push(banner(`host${port}`, port));
    const batches = hostBatches({ banners }, limits);
    await batches.next();
    await vi.advanceTimersByTimeAsync(1000);
    expect(banners.read).toBeLessThanOrEqual(2 * limits.hosts);
    await batches.return();
  });

  it('are none without items', async () => {
    expect(await all(hostBatches({ banners: new Feed().end() }, limits))).toEqual([]);
    expect(await all(hostBatches({}, limits))).toEqual([]);
  });
});

describe('batches of several keys', () => {
  it('have a host once all keys have ended', async () => {
    const banners = new Feed().push(banner('a', 1), banner('b', 1));
    const open_ports = new Feed().push(banner('b', 1), banner('a', 1));
    const batches = hostBatches({ banners, open_ports }, limits);
    let first: unknown = null;
    const next = batches.next().then(({ value }) => {
      first = value;
    });
    banners.end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(first).toBeNull();
    open_ports.push(banner('a', 2)).end();
    await vi.advanceTimersByTimeAsync(20);
    await next;
    expect(first).toEqual({
      banners: [banner('a', 1), banner('b', 1)],
      open_ports: [banner('a', 1), banner('a', 2), banner('b', 1)],
    });
    expect((await batches.next()).done).toBe(true);
  });

  it('have a host at once where both keys have one item per host', async () => {
    const discovered_hosts = new Feed().push({ ip: 'a' }, { ip: 'b' }, { ip: 'c' });
    const asset_profiles = new Feed().push({ host: 'b' }, { host: 'a' });
    const batches = hostBatches({ discovered_hosts, asset_profiles }, limits);
    const { value } = await batches.next();
    expect((value as { discovered_hosts: unknown[] }).discovered_hosts).toHaveLength(2);
    expect(JSON.stringify(value)).not.toContain('"c"');
    await batches.return();
  });

  it('have hosts that only one key names', async () => {
    const banners = new Feed().push(banner('a', 1)).end();
    const open_ports = new Feed().push(banner('b', 1)).end();
    expect(await all(hostBatches({ banners, open_ports }, limits))).toEqual([
      { banners: [banner('a', 1)], open_ports: [banner('b', 1)] },
    ]);
  });

  it('have a value that is no list each time', async () => {
    const policy = new Feed().push(new WholeValue({ level: 3 })).end();
    const banners = new Feed().push(banner('a', 1), banner('b', 1), banner('c', 1)).end();
    const batches = await all(hostBatches({ policy, banners }, limits));
    expect(batches).toHaveLength(2);
    expect(batches.every((batch) => (batch['policy'] as { level: number }).level === 3)).toBe(true);
    const alone = new Feed().push(new WholeValue('text')).end();
    expect(await all(hostBatches({ alone }, limits))).toEqual([{ alone: 'text' }]);
  });

  it('fail where the items that wait take too much memory', async () => {
    const banners = new Feed();
    const open_ports = new Feed();
    const batches = hostBatches({ banners, open_ports }, limits);
    const text = 'x'.repeat(1024 ** 2);
    for (let host = 0; host < 129; host += 1) banners.push({ host: `${host}`, text });
    await expect(batches.next()).rejects.toThrow('take more than 134217728 bytes');
    expect(open_ports.closed).toBe(true);
  });
});

it('the error of an input ends the batches', async () => {
  const banners = new Feed().push(banner('a', 1));
  const open_ports = new Feed();
  const batches = hostBatches({ banners, open_ports }, limits);
  const next = batches.next();
  open_ports.fail(new Error('its producers failed'));
  await expect(next).rejects.toThrow('its producers failed');
  expect(banners.closed).toBe(true);
});

it('a reader that stops closes the inputs', async () => {
  const banners = new Feed().push(banner('a', 1), banner('b', 1));
  for await (const _ of hostBatches({ banners }, limits)) break;
  expect(banners.closed).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  [{ host: 'a', ip: 'b' }, 'a'],
  [{ ip: 'b' }, 'b'],
  [{ value: '10.0.0.0/24', kind: 'cidr' }, '10.0.0.0/24'],
  [{ value: 'www.example.org', ip: '10.0.0.1' }, '10.0.0.1'],
  [{ host: 7 }, ''],
  ['text', ''],
  [null, ''],
])('the host of %j is %j', (item, host) => {
  expect(hostOf(item)).toBe(host);
});
