import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../program.ts';
import { TargetField } from './target-field.ts';

const kills = 50;
const clients = 20;
const scansPerClient = 2;
/** Each kill in this many comes when the scans are getting on; the others hit starts and recoveries. */
const longLifeEvery = 5;
/** So many probes show that they are, and so long is waited for them, milliseconds. */
const signsOfLife = 20;
const patienceMs = 5000;

/** What the scan of a client sweeps: an address of its own, so that every connection tells whose it is. */
const addressOf = (client: number, scan: number) => `127.84.${client}.${scan + 1}`;
const portCount = 30;

/** How far before a kill a pair may lie that is probed again, beside what a busy machine delays. */
const lastSecondMs = 1000;

/** The process of a scan hears of its server's death and ends; a probe of its last moment comes after the kill. */
const orphanMs = 500;

let field: TargetField;
const server = new ServerProcess({
  env: { SERVICE_SERVER__WORKERS: String(clients), SERVICE_SCANNER__MAX_RESUMES: '1000' },
});

beforeAll(async () => {
  const addresses = Array.from({ length: clients * scansPerClient }, (_, index) =>
    addressOf(Math.floor(index / scansPerClient), index % scansPerClient),
  );
  field = await TargetField.open(addresses, portCount);
}, 60_000);
afterAll(async () => {
  await server.dispose();
  field?.close();
});

interface Acknowledged {
  scanId: string;
  address: string;
}

/** A client that insists: the same key until somebody acknowledges it. */
async function insist(address: string): Promise<Acknowledged> {
  const key = randomUUID();
  for (;;) {
    try {
      const { status, body } = await server.request('/api/v1/scans', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({
          targets: [address],
          ports: field.ports,
          rate: 8,
          dag: 'port-scan',
          options: { discover: false, retries: 0, timeout: '1s' },
        }),
        signal: AbortSignal.timeout(2000),
      });
      if (status === 201) return { scanId: (body as { data: { scan_id: string } }).data.scan_id, address };
    } catch {
      // It was killed in the middle, or does not serve yet.
    }
    await sleep(50 + Math.random() * 100);
  }
}

async function untilScansGetOn(): Promise<void> {
  const from = performance.now();
  while (field.since(from).length < signsOfLife && performance.now() < from + patienceMs) await sleep(20);
}

/** Keeps killing until it has done so often enough. @returns the moments, performance.now() */
async function killAgainAndAgain(): Promise<number[]> {
  const moments: number[] = [];
  while (moments.length < kills) {
    const starting = server.start().catch(() => undefined);
    const long = moments.length % longLifeEvery === longLifeEvery - 1;
    if (long) await untilScansGetOn();
    await sleep(long ? Math.random() * 600 : 100 + Math.random() * 500);
    moments.push(performance.now());
    await server.stop('SIGKILL');
    await starting;
  }
  return moments;
}

/** For every pair that was probed more than once: how long before the kill in between the first probe lay. */
function overlaps(moments: readonly number[]): number[] {
  const seen = new Map<string, number[]>();
  for (const { kind, pair, at } of field.contacts) {
    if (kind === 'connect') seen.set(pair, [...(seen.get(pair) ?? []), at]);
  }
  return [...seen.values()].flatMap((times) =>
    times.slice(1).map((again, index) => {
      const before = times[index] as number;
      const kill = moments.find((moment) => moment + orphanMs >= before && moment <= again);
      return kill === undefined ? Number.POSITIVE_INFINITY : Math.max(0, kill - before);
    }),
  );
}

async function openPortsOf(scanId: string): Promise<string[]> {
  const { status, body } = await server.request(`/api/v1/scans/${scanId}/results`);
  expect(status).toBe(200);
  const { results } = (body as { data: { results: { host: string; ports: { port: number }[] }[] } }).data;
  const lines = (
    (await server.request(`/api/v1/scans/${scanId}/results?format=jsonl`)).body as string
  ).trim();
  const rows = lines.split('\n').map((line) => JSON.parse(line) as { type: string });
  expect(rows.at(-1)?.type).toBe('summary');
  return results.flatMap((host) => host.ports.map(({ port }) => `${host.host}:${port}`)).sort();
}

describe('kill -9', () => {
  it(`T-073: ${kills} times under ${clients} running scans and ${clients} clients loses nothing`, async () => {
    const startedAt = performance.now();
    const delays = monitorEventLoopDelay();
    delays.enable();
    const submissions = Array.from({ length: clients }, async (_, client) => {
      const acknowledged: Acknowledged[] = [];
      for (let scan = 0; scan < scansPerClient; scan++) {
        acknowledged.push(await insist(addressOf(client, scan)));
        await sleep(Math.random() * 15_000);
      }
      return acknowledged;
    });
    const moments = await killAgainAndAgain();
    const killedMs = performance.now() - startedAt;
    delays.disable();
    const delayMs = delays.max / 1e6;
    await server.start();
    const acknowledged = (await Promise.all(submissions)).flat();
    expect(new Set(acknowledged.map(({ scanId }) => scanId)).size).toBe(clients * scansPerClient);

    const resumes: number[] = [];
    for (const { scanId, address } of acknowledged) {
      const detail = await server.waitForEnd(scanId, 60_000);
      expect(detail).toMatchObject({ status: 'completed', error: null });
      resumes.push(detail.progress.resumes);
      // No pair stands there twice, and none is missing.
      expect(await openPortsOf(scanId)).toEqual(field.ports.map((port) => `${address}:${port}`).sort());
    }
    const again = overlaps(moments);
    const worst = Math.max(0, ...again);
    console.log(
      `${kills} kills in ${Math.round(killedMs / 1000)} s, ${acknowledged.length} scans, ended after ` +
        `${Math.round((performance.now() - startedAt) / 1000)} s; resumes up to ${Math.max(...resumes)}, ` +
        `${again.length} of ${field.contacts.length} probes repeated, the oldest ${Math.round(worst)} ms before its kill; ` +
        `this machine delayed timers by up to ${Math.round(delayMs)} ms`,
    );
    expect(worst).toBeLessThanOrEqual(lastSecondMs + delayMs);
  }, 240_000);
});
