import { expect, it } from 'vitest';
import { parseTargets } from '../../domain/targets/target.ts';
import { maxChunkEndpoints, maxChunkHosts } from '../../net/packets/engine/chunk.ts';
import { HostBatches } from './host-batches.ts';

async function sizes(batches: HostBatches): Promise<number[]> {
  const found: number[] = [];
  for await (const batch of batches) found.push(batch.length);
  return found;
}

it('groups as many hosts as one piece of a sweep may have', async () => {
  const { addresses } = parseTargets(['10.0.0.0-10.0.39.15']);
  const total = Number(addresses.size);
  expect(await sizes(HostBatches.of(addresses, null, 1))).toEqual([
    maxChunkHosts,
    maxChunkHosts,
    total - 2 * maxChunkHosts,
  ]);
  const of1000 = Math.floor(maxChunkEndpoints / 1000);
  const some = parseTargets(['10.0.0.1-10.0.1.255']).addresses;
  expect((await sizes(HostBatches.of(some, null, 1000)))[0]).toBe(of1000);
  // Many ports are taken in turns, so that no host gets all of them at the same time.
  expect((await sizes(HostBatches.of(some, null, 65_535)))[0]).toBe(64);
});

it('does not wait for hosts that may never come', async () => {
  let arrive: () => void = () => undefined;
  const third = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  async function* slowly() {
    yield { ip: '10.0.0.1', latency_ms: 1, method: 'test' };
    yield { ip: '10.0.0.2', latency_ms: 1, method: 'test', mac: '00:11:22:33:44:55' };
    await third;
    yield { ip: '10.0.0.3', latency_ms: null, method: 'test' };
  }
  const batches = HostBatches.discovered(slowly(), 100)[Symbol.asyncIterator]();
  expect((await batches.next()).value).toEqual([
    { ip: '10.0.0.1', latencyMs: 1, mac: undefined },
    { ip: '10.0.0.2', latencyMs: 1, mac: '00:11:22:33:44:55' },
  ]);
  arrive();
  expect((await batches.next()).value).toHaveLength(1);
  expect((await batches.next()).done).toBe(true);
});
