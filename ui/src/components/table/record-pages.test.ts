import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LoadedPage, pageSize, RecordPages } from './record-pages.ts';

const total = 1_000_000;

/** Responds when the test says so. */
class Source {
  readonly requested: number[] = [];
  readonly aborted: number[] = [];
  #waiting = new Map<number, (fail?: Error) => void>();

  readonly load = (offset: number, signal: AbortSignal): Promise<LoadedPage<string, null>> => {
    this.requested.push(offset);
    signal.addEventListener('abort', () => this.aborted.push(offset));
    return new Promise((resolve, reject) => {
      this.#waiting.set(offset, (fail) => {
        if (fail !== undefined) reject(fail);
        else
          resolve({
            rows: Array.from({ length: pageSize }, (_, k) => `row ${offset + k}`),
            total,
            extra: null,
          });
      });
    });
  };

  async respond(offset: number, fail?: Error): Promise<void> {
    this.#waiting.get(offset)?.(fail);
    await vi.advanceTimersByTimeAsync(0);
  }
}

/** Draws the rows of a view, as a table does. */
async function draw(pages: RecordPages<string, null>, first: number, rows = 40) {
  const drawn = Array.from({ length: rows }, (_, k) => pages.rowAt(first + k));
  await vi.advanceTimersByTimeAsync(100);
  return drawn;
}

describe('pages of records', () => {
  let source: Source;
  let pages: RecordPages<string, null>;

  beforeEach(async () => {
    vi.useFakeTimers();
    source = new Source();
    pages = new RecordPages(source.load);
    pages.reload();
    await source.respond(0);
  });
  afterEach(() => vi.useRealTimers());

  it('begin with the first one', async () => {
    expect(pages.state()).toMatchObject({ total, isPending: false, error: null });
    expect((await draw(pages, 0))[0]).toBe('row 0');
    expect(source.requested).toEqual([0]);
  });

  it('are loaded for the rows in view', async () => {
    expect((await draw(pages, 500_190))[0]).toBeUndefined();
    expect(source.requested).toEqual([0, 500_100, 500_200]);
    await source.respond(500_100);
    await source.respond(500_200);
    expect((await draw(pages, 500_190)).at(-1)).toBe('row 500229');
  });

  it('are not requested while they are scrolled past', async () => {
    for (let first = 1000; first < 20_000; first += 200) {
      for (let k = 0; k < 40; k++) pages.rowAt(first + k);
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(100);
    expect(source.requested).toEqual([0, 19_800]);
  });

  it('that are out of view have their requests aborted', async () => {
    await draw(pages, 10_000);
    await draw(pages, 900_000);
    expect(source.aborted).toEqual([10_000]);
  });

  it('stay in memory up to a bound, the last used ones', async () => {
    for (let page = 1; page <= 110; page++) {
      await draw(pages, page * pageSize, 1);
      await source.respond(page * pageSize);
    }
    const before = source.requested.length;
    await draw(pages, 110 * pageSize, 1);
    expect(source.requested.length).toBe(before);
    await draw(pages, pageSize, 1);
    expect(source.requested.length).toBe(before + 1);
  });

  it('of former parameters stay until the new ones are there', async () => {
    const filtered = new Source();
    pages.reload(filtered.load);
    expect(pages.state().isPending).toBe(true);
    expect(pages.rowAt(0)).toBe('row 0');
    await filtered.respond(0);
    expect(pages.state().isPending).toBe(false);
    expect(filtered.requested).toEqual([0]);
  });

  it('are not requested again and again after an error', async () => {
    await draw(pages, 10_000);
    await source.respond(10_000, new Error('timeout'));
    expect(pages.state().error).toBeInstanceOf(Error);
    const before = source.requested.length;
    await draw(pages, 10_000);
    await draw(pages, 20_000);
    expect(source.requested.length).toBe(before);
    pages.reload();
    expect(source.requested.length).toBe(before + 1);
  });
});
