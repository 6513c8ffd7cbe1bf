import { describe, expect, it } from 'vitest';
import { maxSlowProbes, retrySlowly } from './slow-retry.ts';

const ports = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const never = new AbortController().signal;

/** A host that responds to so many probes per second and drops the others. @returns what was asked */
async function ask(silent: number[], responds: (port: number, perSecond: number) => boolean) {
  const asked: [count: number, perSecond: number][] = [];
  const found = new Set<number>();
  await retrySlowly(
    silent,
    async (some, perSecond) => {
      asked.push([some.length, perSecond]);
      const answered = some.filter((port) => responds(port, perSecond));
      for (const port of answered) found.add(port);
      return some.filter((port) => !answered.includes(port));
    },
    never,
  );
  return { asked, found, probes: asked.reduce((sum, [count]) => sum + count, 0) };
}

describe('a slow retry', () => {
  it('finds what a host that limits its responses has left out', async () => {
    const { found, probes } = await ask(ports(300), () => true);
    expect([found.size, probes]).toEqual([300, 300]);
  });

  it('gets slower while that brings responses', async () => {
    const { asked, found } = await ask(ports(60), (port, perSecond) => port % Math.ceil(perSecond / 5) === 0);
    expect([...new Set(asked.map(([, perSecond]) => perSecond))]).toEqual([20, 10, 5]);
    expect(found.size).toBe(60);
  });

  it('takes silence for that of a filter after one sample', async () => {
    expect((await ask(ports(1000), () => false)).probes).toBe(32);
    const mixed = await ask(ports(96), (port) => port <= 32);
    expect([mixed.found.size, mixed.probes]).toEqual([32, 64]);
  });

  it('has a bound, and ends with the scan', async () => {
    expect((await ask(ports(60_000), () => true)).probes).toBe(maxSlowProbes);
    const canceled = AbortSignal.abort();
    await retrySlowly(ports(5), () => Promise.reject(new Error('asked')), canceled);
  });
});
