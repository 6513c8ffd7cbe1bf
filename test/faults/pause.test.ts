import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScanDetail, ServerProcess } from '../program.ts';
import { TargetField } from './target-field.ts';

/** Rounds of scans side by side, each stopped at a moment of its own. */
const rounds = 5;
const lanes = 4;
const moments = rounds * lanes;

const addressesOf = (lane: number) => Array.from({ length: 8 }, (_, index) => `127.83.${lane}.${index + 1}`);
const submission = (lane: number, ports: number[], rate = 150) => ({
  targets: [`127.83.${lane}.1-8`],
  ports,
  rate,
  options: { timeout: '600ms', retries: 0 },
});

let field: TargetField;
const server = new ServerProcess();
beforeAll(async () => {
  // Half of a host's ports would make it answer everything; 40 stay below that.
  field = await TargetField.open(Array.from({ length: lanes }, (_, lane) => addressesOf(lane)).flat(), 40);
  await server.start();
}, 60_000);
afterAll(async () => {
  await server.dispose();
  field?.close();
});

async function control(scanId: string, verb: string): Promise<{ status: number; data: ScanDetail }> {
  const { status, body } = await server.request(`/api/v1/scans/${scanId}/${verb}`, { method: 'POST' });
  return { status, data: (body as { data: ScanDetail }).data };
}

/** Nothing reaches the scan's targets from one second after now on, for a while. */
async function expectSilence(lane: number): Promise<void> {
  const from = performance.now() + 1000;
  await sleep(2200);
  expect(field.since(from, `127.83.${lane}.`)).toEqual([]);
}

async function pairsOf(scanId: string): Promise<string[]> {
  const { body } = await server.request(`/api/v1/scans/${scanId}/results`);
  const { results } = (body as { data: { results: { host: string; ports: { port: number }[] }[] } }).data;
  return results.flatMap((host) => host.ports.map(({ port }) => `${host.host}:${port}`)).sort();
}

describe('pause and cancel', () => {
  it(`T-072 at ${moments} random moments silence a scan within a second`, async () => {
    const round = async (lane: number) => {
      const scanId = await server.submit(submission(lane, field.ports));
      await sleep(300 + Math.random() * 3000);
      const paused = await control(scanId, 'pause');
      expect(paused.status).toBe(200);
      expect(paused.data).toMatchObject({ status: 'running', progress: { paused: true, rate: 0 } });
      expect((await control(scanId, 'pause')).status).toBe(200);
      await expectSilence(lane);
      expect((await server.detail(scanId)).status).toBe('running');

      const resumed = await control(scanId, 'resume');
      expect(resumed.data).toMatchObject({ status: 'running', progress: { paused: false } });
      const from = performance.now();
      await expect
        .poll(() => field.since(from, `127.83.${lane}.`).length, { timeout: 5000 })
        .toBeGreaterThan(0);
      await sleep(Math.random() * 1000);
      const { data } = await control(scanId, 'cancel');
      expect(data).toMatchObject({
        status: 'failed',
        error: { code: 'canceled' },
        progress: { paused: false },
      });
      await expectSilence(lane);
      const found = await pairsOf(scanId);
      expect(new Set(found).size).toBe(found.length);
    };
    for (let turn = 0; turn < rounds; turn++) {
      await Promise.all(Array.from({ length: lanes }, (_, lane) => round(lane)));
    }
    expect(field.open).toBe(0);
    await expect.poll(() => server.scanProcesses().length).toBe(0);
  }, 120_000);

  it('a scan that was paused finds what one that was not finds, over a kill -9 of the server', async () => {
    const scanId = await server.submit(submission(0, field.ports, 400));
    await sleep(1200);
    await control(scanId, 'pause');
    await server.stop('SIGKILL');
    await sleep(200);
    const from = performance.now();
    await server.start();
    await sleep(1500);
    expect(await server.detail(scanId)).toMatchObject({ status: 'running', progress: { paused: true } });
    expect(server.scanProcesses()).toEqual([]);
    expect(field.since(from, '127.83.0.')).toEqual([]);
    await control(scanId, 'resume');
    expect(await server.waitForEnd(scanId, 60_000)).toMatchObject({ status: 'completed' });
    const expected = addressesOf(0).flatMap((address) => field.ports.map((port) => `${address}:${port}`));
    expect(await pairsOf(scanId)).toEqual(expected.sort());
    expect((await control(scanId, 'pause')).status).toBe(409);
    expect((await control(scanId, 'resume')).status).toBe(409);
  }, 90_000);
});
