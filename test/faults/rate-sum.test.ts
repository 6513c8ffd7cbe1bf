import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openService, type Service } from '../../src/server/fixtures/service.ts';
import { TargetField } from './target-field.ts';

const maxRate = 200;
const entryFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const addresses = [1, 2, 3].map((lane) => `127.85.${lane}.1`);

let field: TargetField;
let service: Service;
beforeAll(async () => {
  field = await TargetField.open(addresses, 600);
  const flags = { 'scanner.max_rate': maxRate, 'scanner.rate': maxRate, 'server.workers': 3 };
  service = await openService(flags, { working: true, entryFile });
}, 60_000);
afterAll(async () => {
  await service?.close();
  field?.close();
}, 60_000);

/** A sweep without any connection but one a pair. */
const submit = (lane: number) =>
  service.submit('sweep', {
    targets: [addresses[lane]],
    ports: field.ports,
    rate: maxRate,
    dag: 'port-scan',
    options: { discover: false, retries: 0, timeout: '1s' },
  });
const arrivals = (from: number, lane?: number) =>
  field.since(from, lane === undefined ? '' : addresses[lane]).map(({ at }) => at);

it('scanner.max_rate bounds the sum of the scans that run, while they come, pause and go', async () => {
  const first = await submit(0);
  await expect.poll(() => arrivals(0, 0).length, { timeout: 10_000 }).toBeGreaterThan(maxRate / 2);
  const others = [await submit(1), await submit(2)];
  await expect.poll(() => arrivals(0, 2).length, { timeout: 15_000 }).toBeGreaterThan(20);
  const shared = performance.now();
  await sleep(1500);
  const perLane = [0, 1, 2].map((lane) => arrivals(shared, lane).length);
  // A third each; what the machine's other work takes away is no matter here.
  for (const count of perLane) expect(count).toBeGreaterThan(Math.min(...perLane.filter((n) => n > 0)) / 2);
  for (const count of perLane) expect(count).toBeLessThan((maxRate / 3) * 1.5 * 1.2);

  await service.app.inject({ method: 'POST', url: `/api/v1/scans/${first}/pause` });
  const paused = performance.now();
  await sleep(1500);
  expect(arrivals(paused + 1000, 0)).toEqual([]);
  expect(arrivals(paused).length).toBeGreaterThan(maxRate * 1.5 * 0.6);
  for (const scanId of [first, ...others]) {
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
  }

  const all = arrivals(0).sort((a, b) => a - b);
  const busiest = Math.max(
    ...all.map((start, at) => all.filter((time, index) => index >= at && time < start + 1000).length),
  );
  console.log(`max_rate ${maxRate}: ${all.length} probes, the busiest second had ${busiest}`);
  // Beyond the 5 % of the promise only what a busy listener delivers late.
  expect(busiest).toBeLessThanOrEqual(maxRate * 1.05 * 1.1);
}, 90_000);
