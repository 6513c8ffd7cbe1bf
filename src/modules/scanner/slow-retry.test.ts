import { describe, expect, it } from 'vitest';
import type { SweepProgress } from '../../net/tcp/sweep-job.ts';
import { maxSlowProbes, type SlowProbe, SlowRetry, type SlowRetryState } from './slow-retry.ts';

const ports = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const never = new AbortController().signal;

/** A host that responds to so many probes per second and drops the others. @returns the requested samples */
async function ask(silent: number[], responds: (port: number, perSecond: number) => boolean) {
  const asked: [count: number, perSecond: number][] = [];
  const found = new Set<number>();
  const retry = new SlowRetry();
  const probe: SlowProbe = async (some, perSecond) => {
    asked.push([some.length, perSecond]);
    const responded = some.filter((port) => responds(port, perSecond));
    for (const port of responded) found.add(port);
    return { open: responded.length, closed: 0, silent: some.filter((port) => !responded.includes(port)) };
  };
  await retry.run(silent, probe, never);
  expect(retry.found).toEqual({ open: found.size, closed: 0 });
  return { asked, found, probes: asked.reduce((sum, [count]) => sum + count, 0) };
}

/** Where a sample is after so many of its ports: what it makes of that is the affair of whoever probes. */
function sampleAt(counter: number): SweepProgress {
  const none = () => new Uint32Array(1);
  const counts = { probed: none(), open: none(), closed: none(), rejected: none(), unsent: none() };
  return {
    parts: [{ hosts: ['192.0.2.1'], key: [], state: { counter, settled: new Uint8Array(4), counts } }],
  };
}

/** Retries with a kill after each of so many probes. @returns each probe, port and rate */
async function retryWithKills(
  silent: number[],
  every: number,
  responds: (port: number, perSecond: number) => boolean,
) {
  const probes: string[] = [];
  let saved: SlowRetryState | null = null;
  for (let isOver = false; !isOver; ) {
    if (probes.length > 1000) throw new Error('it does not come to an end');
    const retry: SlowRetry = new SlowRetry(saved && (JSON.parse(JSON.stringify(saved)) as SlowRetryState));
    const last = probes.length + every;
    const probe: SlowProbe = async (some, perSecond, { restored, onState }) => {
      for (let at = restored?.parts[0]?.state.counter ?? 0; at < some.length; at++) {
        if (probes.length === last) throw new Error('killed');
        probes.push(`${some[at]} ${perSecond}`);
        onState(sampleAt(at + 1));
      }
      const responded = some.filter((port) => responds(port, perSecond));
      return { open: responded.length, closed: 0, silent: some.filter((port) => !responded.includes(port)) };
    };
    isOver = await retry.run(silent, probe, never).then(
      () => true,
      () => false,
    );
    saved = retry.state();
  }
  return { probes, saved };
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
    let responses = 32;
    const mixed = await ask(ports(96), () => responses-- > 0);
    expect([mixed.found.size, mixed.probes]).toEqual([32, 64]);
  });

  it('has a bound, and ends with the scan', async () => {
    expect((await ask(ports(60_000), () => true)).probes).toBe(maxSlowProbes);
    const canceled = AbortSignal.abort();
    await new SlowRetry().run(ports(5), () => Promise.reject(new Error('asked')), canceled);
  });

  it.each([1, 7, 32, 50])(
    'goes on where it was, however often it is killed: after %i probes each',
    async (every) => {
      const responds = (port: number, perSecond: number) => port % Math.ceil(perSecond / 5) === 0;
      const { probes, saved } = await retryWithKills(ports(150), every, responds);
      expect(new Set(probes).size).toBe(probes.length);
      expect(probes.filter((probe) => probe.endsWith(' 20'))).toHaveLength(150);
      expect(probes.filter((probe) => probe.endsWith(' 10'))).toHaveLength(113);
      expect(probes.filter((probe) => probe.endsWith(' 5'))).toHaveLength(75);
      expect(saved).toMatchObject({ open: 150, closed: 0 });
    },
  );

  it('does not go on with what a filter has ended', async () => {
    const { probes } = await retryWithKills(ports(100), 32, () => false);
    expect(probes).toHaveLength(32);
  });

  it('begins anew where other ports are silent now', async () => {
    const { saved } = await retryWithKills(ports(100), 50, () => true);
    const retry = new SlowRetry(saved);
    await retry.run(ports(40), async (some) => ({ open: some.length, closed: 0 }), never);
    expect(retry.found).toEqual({ open: 40, closed: 0 });
  });
});
