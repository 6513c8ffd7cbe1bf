import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endedScan } from '../../../test/receivers.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { Scan } from '../../domain/scan.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { ScanFeed } from './scan-feed.ts';
import { watchScan } from './watch-scan.ts';

const scanId = '20261006-143022-a1b2c3';
const timestamp = '2026-10-06T14:30:24.010Z';

let root: string;
let folder: ScanFolder;
let stored: ScanRecord;
/** Reads of the record, and those under way. */
let reads = 0;
let reading = 0;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'portolan-feed-'));
  folder = (await openWorkspace(root)).scan(scanId);
  await folder.create(scanRequest({ scan_id: scanId }));
  reads = 0;
  reading = 0;
  stored = new Proxy(recordIn(folder), {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      return name === 'rowsAfter' ? counted(value.bind(target)) : value.bind(target);
    },
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(root, { recursive: true, force: true });
});

function counted(read: ScanRecord['rowsAfter']): ScanRecord['rowsAfter'] {
  return async (...args) => {
    reads += 1;
    reading += 1;
    return await read(...args).finally(() => (reading -= 1));
  };
}

async function record(first: number, last: number): Promise<void> {
  const writer = await openRecord(folder);
  for (let n = first; n <= last; n++) {
    void writer.append({ type: 'error', timestamp, node: 'n', target: null, message: `error ${n}` } as never);
  }
  await writer.close();
}

/** A scan that is changed by hand. */
class Script {
  looks = 0;
  #scan: Scan | null = endedScan({ scan_id: scanId, status: 'running', completed_at: null });
  #changed = Promise.withResolvers<void>();
  empty = 0;
  readonly feed = new ScanFeed(
    {
      scan: async () => {
        this.looks += 1;
        return this.#scan;
      },
      damageOf: async () => null,
      changed: async (signal) => {
        const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        await Promise.race([this.#changed.promise, aborted]);
      },
    },
    () => (this.empty += 1),
  );

  change(scan: Partial<Scan> | null): void {
    this.#scan = scan && endedScan({ scan_id: scanId, completed_at: null, status: 'running', ...scan });
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }

  /** Takes everything until the end. */
  follow(afterRow = 0): Promise<string[]> {
    const source = this.feed.subscribe(scanId, stored);
    const take = async () => {
      const seen: string[] = [];
      for await (const run of watchScan(source, afterRow, new AbortController().signal)) {
        for (const { event, id } of run) seen.push(id === undefined ? event : `${event} ${id}`);
      }
      source.close();
      return seen;
    };
    return take();
  }
}

/** Lets reads of files that are under way end. */
async function settled(looks = () => reads): Promise<void> {
  for (let before = -1; before !== looks() || reading > 0; ) {
    before = looks();
    for (let n = 0; n < 50; n++) await turn();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const warnings = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => `warning ${first + n}`);

/** What a scan costs with so many readers. */
async function costOf(readers: number): Promise<{ looks: number; reads: number; seen: string[][] }> {
  const script = new Script();
  const following = Array.from({ length: readers }, () => script.follow());
  await settled();
  for (let n = 1; n <= 3; n++) {
    script.change({ progress: { ...endedScan({}).progress, percent: n } });
    await settled();
  }
  script.change({ status: 'completed' });
  const seen = await Promise.all(following);
  expect(script.empty).toBe(1);
  return { looks: script.looks, reads, seen };
}

describe('the feed of a scan', () => {
  it('looks at the scan and reads its record a few times, for one reader and for 200', async () => {
    await record(1, 30);
    reads = 0;
    const alone = await costOf(1);
    reads = 0;
    const many = await costOf(200);
    // Four changes are seen in six looks at most; between them the record may be read once or twice.
    for (const cost of [alone, many]) {
      expect(cost.looks).toBeLessThanOrEqual(6);
      expect(cost.reads).toBeLessThanOrEqual(2 * 6);
    }
    for (const seen of many.seen) {
      expect(seen.filter((name) => !name.startsWith('progress'))).toEqual([
        'status',
        ...warnings(1, 30),
        'status',
        'end',
      ]);
    }
  });

  it('reads nothing again for readers that come once others have read it', async () => {
    await record(1, 30);
    const script = new Script();
    const early = script.follow();
    await settled();
    const before = reads;
    const late = [script.follow(), script.follow(7)];
    await settled();
    expect(reads).toBe(before);
    script.change({ status: 'completed' });
    const rows = (await Promise.all([early, ...late])).map((seen) =>
      seen.filter((name) => name.includes(' ')),
    );
    expect(rows).toEqual([1, 1, 8].map((first) => warnings(first, 30)));
  });

  it('gives each reader the rows behind its own position, each once', async () => {
    await record(1, 2500);
    const script = new Script();
    const following = [0, 7, 999, 1000, 1001, 2499, 2500].map((after) => script.follow(after));
    await settled();
    script.change({ status: 'completed' });
    const rows = (await Promise.all(following)).map((seen) => seen.filter((name) => name.includes(' ')));
    expect(rows).toEqual([1, 8, 1000, 1001, 1002, 2500, 2501].map((first) => warnings(first, 2500)));
  });

  it('gives a reader that stood still every row when it goes on', async () => {
    await record(1, 2500);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const script = new Script();
    const source = script.feed.subscribe(scanId, stored);
    const slow = source.rowsAfter(0)[Symbol.asyncIterator]();
    const seen: (number | undefined)[] = [];
    const take = async () => {
      const { value, done } = await slow.next();
      for (const { id } of value ?? []) seen.push(id);
      return !done;
    };
    await take();
    await take();
    const before = seen.length;
    vi.advanceTimersByTime(10_000);
    while (await take());
    expect(before).toBeLessThan(2000);
    expect(seen).toEqual(Array.from({ length: 2500 }, (_, n) => n + 1));
    source.close();
  });

  it('gives readers at the same place the same run, so that it is formatted once', async () => {
    await record(1, 2500);
    const script = new Script();
    const sources = [0, 1, 2].map(() => script.feed.subscribe(scanId, stored));
    const runs: unknown[] = [];
    for (const source of sources) for await (const run of source.rowsAfter(0)) runs.push(run);
    expect(new Set(runs).size).toBe(runs.length / 3);
    const own = script.feed.subscribe(scanId, stored);
    const ids: (number | undefined)[] = [];
    for await (const run of own.rowsAfter(10)) ids.push(...run.map(({ id }) => id));
    expect([ids[0], ids.length]).toEqual([11, 2490]);
    for (const source of [...sources, own]) source.close();
  });

  it('ends for all when the scan is deleted, or cannot be looked at', async () => {
    const script = new Script();
    const following = [script.follow(), script.follow()];
    await settled(() => script.looks);
    script.change(null);
    expect(await Promise.all(following)).toEqual([
      ['status', 'progress'],
      ['status', 'progress'],
    ]);
    const fault = new Error('the store is away');
    const feed = new ScanFeed(
      { scan: async () => Promise.reject(fault), damageOf: async () => null, changed: async () => undefined },
      () => undefined,
    );
    const source = feed.subscribe(scanId, stored);
    await expect(source.scan()).rejects.toBe(fault);
    source.close();
  });

  it('stops looking when the last reader has gone', async () => {
    const script = new Script();
    const source = script.feed.subscribe(scanId, stored);
    await source.scan();
    source.close();
    source.close();
    script.change({});
    await settled(() => script.looks);
    expect([script.looks, script.empty]).toEqual([1, 1]);
  });
});
