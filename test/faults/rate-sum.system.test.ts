import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openService, type Service } from '../../src/server/fixtures/service.ts';
import { TargetField } from './target-field.ts';

/** Little, so that a busy machine keeps up. */
const maxRate = 60;
/** The first scan still runs when a busy machine gets to the others: ten seconds alone at the whole rate. */
const portCount = 10 * maxRate;
const entryFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const addresses = [1, 2, 3].map((lane) => `127.85.${lane}.1`);

let field: TargetField;
let service: Service;
beforeAll(async () => {
  field = await TargetField.open(addresses, portCount);
  const flags = { 'scanner.max_rate': maxRate, 'scanner.rate': maxRate, 'server.workers': 3 };
  service = await openService(flags, { working: true, entryFile });
});
afterAll(async () => {
  await service?.close();
  field?.close();
});

/** A sweep without any connection but one a pair. */
const submit = (lane: number) =>
  service.submit('sweep', {
    targets: [addresses[lane]],
    ports: field.ports,
    rate: maxRate,
    dag: 'port-scan',
    options: { discover: false, retries: 0, timeout: '1s' },
  });
/** What a rate may be exceeded by, and the probes of a moment that may lie on either side of a mark. */
const tolerance = 1.05;
const slack = maxRate * 0.1;

/**
 * What arrives while so much time passes. The time is never told too short, whenever this process stood still: it begins
 * before what came earlier is taken in, and ends after.
 */
async function countFor(ms: number): Promise<{ perLane: number[]; count: number; seconds: number }> {
  const begun = performance.now();
  const seen = await field.during(ms);
  const perLane = addresses.map((address) => seen.filter(({ pair }) => pair.startsWith(address)).length);
  return { perLane, count: seen.length, seconds: (performance.now() - begun) / 1000 };
}

/** Counts what arrives in each second, one after the other, until it is told to end. */
function watchSeconds() {
  let ended = false;
  const counting = (async () => {
    const seconds: { count: number; passed: number }[] = [];
    while (!ended) {
      const { count, seconds: passed } = await countFor(1000);
      seconds.push({ count, passed });
    }
    return seconds;
  })();
  return {
    end: () => {
      ended = true;
      return counting;
    },
  };
}

const arrivals = (from: number, lane?: number) =>
  field.since(from, lane === undefined ? '' : addresses[lane]).map(({ at }) => at);

it('scanner.max_rate bounds the sum of the scans that run, while they come, pause and go', async () => {
  const first = await submit(0);
  const seconds = watchSeconds();
  await expect.poll(() => arrivals(0, 0).length).toBeGreaterThan(maxRate / 4);
  const others = [await submit(1), await submit(2)];
  await expect.poll(() => arrivals(0, 1).length).toBeGreaterThan(20);
  await expect.poll(() => arrivals(0, 2).length).toBeGreaterThan(20);
  const from = performance.now();
  for (const lane of [0, 1, 2]) await expect.poll(() => arrivals(from, lane).length).toBeGreaterThan(0);
  const shared = await countFor(1200);
  // A third each; what the machine's other work takes away is no matter here.
  for (const count of shared.perLane)
    expect(count).toBeLessThan((maxRate / 3) * shared.seconds * tolerance + slack);

  await service.app.inject({ method: 'POST', url: `/api/v1/scans/${first}/pause` });
  expect(await field.afterStop(addresses[0])).toEqual([]);
  // The others share what it leaves: more than the two thirds that they had.
  const othersRate = async () => {
    const { perLane, seconds: passed } = await countFor(500);
    return ((perLane[1] ?? 0) + (perLane[2] ?? 0)) / passed;
  };
  await expect.poll(othersRate).toBeGreaterThan(maxRate * 0.75);
  for (const scanId of [first, ...others]) {
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
  }

  const counted = await seconds.end();
  const most = Math.max(...counted.map(({ count, passed }) => (count - slack) / passed));
  console.log(`max_rate ${maxRate}: ${arrivals(0).length} probes, at most ${most.toFixed(0)} a second`);
  expect(most).toBeLessThanOrEqual(maxRate * tolerance);
});
