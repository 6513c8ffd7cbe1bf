import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Backlog } from './backlog.ts';

const dir = mkdtempSync(join(tmpdir(), 'portolan-backlog-'));
afterAll(() => rmSync(dir, { recursive: true }));

async function drain<T>(backlog: Backlog<T>): Promise<T[]> {
  const items: T[] = [];
  for (;;) {
    const next = await backlog.next();
    if (next.done) return items;
    items.push(next.value);
  }
}

describe('Backlog', () => {
  it('keeps the order through memory and spill, and leaves no file behind', async () => {
    const backlog = new Backlog<number>(8, dir);
    for (let i = 0; i < 5000; i++) expect(backlog.push(i)).toBeUndefined();
    expect(readdirSync(dir)).toEqual([]);
    backlog.end();
    expect(await drain(backlog)).toEqual(Array.from({ length: 5000 }, (_, i) => i));
  });

  it('makes the producer wait while its reader lags', async () => {
    const backlog = new Backlog<number>(4, dir);
    const first = backlog.next();
    backlog.push(0);
    await first;
    let wait: Promise<void> | undefined;
    let pushed = 1;
    while (!wait) wait = backlog.push(pushed++);
    expect(pushed).toBe(6);
    let released = false;
    void wait.then(() => {
      released = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(released).toBe(false);
    await backlog.next();
    await backlog.next();
    await wait;
  });

  it('never stops a producer whose reader has not begun', () => {
    const backlog = new Backlog<string>(1, dir);
    for (let i = 0; i < 2000; i++) expect(backlog.push(`item ${i}`)).toBeUndefined();
    backlog.close();
  });

  it('lets go of everybody when it fails or closes', async () => {
    const failed = new Backlog<number>(1, dir);
    const reading = failed.next();
    failed.fail(new Error('canceled'));
    await expect(reading).rejects.toThrow('canceled');

    const closed = new Backlog<number>(1, dir);
    void closed.next();
    closed.push(1);
    closed.push(2);
    const wait = closed.push(3);
    closed.close();
    await wait;
    expect(closed.push(4)).toBeUndefined();
  });

  it('delivers everything in order whatever the interleaving', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 300 }),
      fc.integer({ min: 1, max: 9 }),
      async (pushes, limit) => {
        const backlog = new Backlog<number>(limit, dir);
        const read: number[] = [];
        let pushed = 0;
        for (const push of pushes) {
          if (push) void backlog.push(pushed++);
          else if (read.length < pushed) read.push((await backlog.next()).value as number);
        }
        backlog.end();
        read.push(...(await drain(backlog)));
        expect(read).toEqual(Array.from({ length: pushed }, (_, i) => i));
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});
