import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../program.ts';
import { rounds } from '../rounds.ts';
import { TargetField } from './target-field.ts';

const kills = rounds(50, 20);
const clients = 20;
const scansPerClient = 2;
/** Each kill in this many comes when the scans are getting on; the others hit starts and recoveries. */
const longLifeEvery = rounds(5, 10);
/** So many probes show that they are; no machine needs longer for them, milliseconds. */
const signsOfLife = 20;
const patienceMs = 20_000;
/** Between two scans of a client at most, milliseconds. */
const restMs = rounds(15_000, 8000);

/** What the scan of a client sweeps: an address of its own, so that every connection tells whose it is. */
const addressOf = (client: number, scan: number) => `127.84.${client}.${scan + 1}`;
const portCount = 30;

/** Probes a second of a scan. */
const rate = 8;
/**
 * How far before a kill a pair may lie that is probed again, in probes of its scan: what it asks in the second between
 * two checkpoints, and once more that for the writing of one. A whole scan has nearly twice as many.
 */
const lastProbes = 2 * rate;

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
});
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
          rate,
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

/**
 * For every pair that was probed more than once: how many probes of its scan before the kill in between the first one
 * was. Probes that this process noted late are not taken for later ones.
 */
function overlaps(moments: readonly number[], delayMs: number): number[] {
  const ofAddress = Map.groupBy(field.connects(0), ({ pair }) => pair.split(':')[0]);
  const endOf = (kill: number) => kill + orphanMs + delayMs;
  return [...ofAddress.values()].flatMap((probes) =>
    [...Map.groupBy(probes, ({ pair }) => pair).values()].flatMap((same) =>
      same.slice(1).map(({ at: again }, index) => {
        const { at: before } = same[index] as { at: number };
        const kill = moments.find((moment) => endOf(moment) >= before && moment <= again);
        if (kill === undefined) return Number.POSITIVE_INFINITY;
        return probes.filter(({ at }) => at > before && at <= kill).length;
      }),
    ),
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
        await sleep(Math.random() * restMs);
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
      const detail = await server.waitForEnd(scanId);
      expect(detail).toMatchObject({ status: 'completed', error: null });
      resumes.push(detail.progress.resumes);
      // No pair stands there twice, and none is missing.
      expect(await openPortsOf(scanId)).toEqual(field.ports.map((port) => `${address}:${port}`).sort());
    }
    const again = overlaps(moments, delayMs);
    const worst = Math.max(0, ...again);
    console.log(
      `${kills} kills in ${Math.round(killedMs / 1000)} s, ${acknowledged.length} scans, ended after ` +
        `${Math.round((performance.now() - startedAt) / 1000)} s; resumes up to ${Math.max(...resumes)}, ` +
        `${again.length} of ${field.contacts.length} probes repeated, the oldest ${worst} probes before its kill; ` +
        `this machine delayed timers by up to ${Math.round(delayMs)} ms`,
    );
    expect(worst).toBeLessThanOrEqual(lastProbes);
  }, 360_000);
});
