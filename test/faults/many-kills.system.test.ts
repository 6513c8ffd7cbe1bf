import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, ServerProcess } from '../program.ts';
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
 * two checkpoints, and once more that for the writing of one. A whole scan has nearly twice as many. As many may come
 * after the kill, until the process of the scan has heard of its server's death.
 */
const lastProbes = 2 * rate;

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

/** Moments of performance.now(). */
interface Kill {
  at: number;
  /** From then on no process of the server that was killed sends anything. */
  over: Promise<number>;
}

/** Keeps killing until it has done so often enough. */
async function killAgainAndAgain(): Promise<Kill[]> {
  const done: Kill[] = [];
  while (done.length < kills) {
    const starting = server.start().catch(() => undefined);
    const long = done.length % longLifeEvery === longLifeEvery - 1;
    if (long) await untilScansGetOn();
    await sleep(long ? Math.random() * 600 : 100 + Math.random() * 500);
    const orphans = server.scanProcesses();
    const at = performance.now();
    await server.stop('SIGKILL');
    done.push({ at, over: endOf(orphans) });
    await starting;
  }
  return done;
}

/** When processes are gone and all that they sent is noted, whenever this process got to it. */
async function endOf(pids: readonly number[]): Promise<number> {
  while (pids.some(isAlive)) await sleep(20);
  await field.settled();
  return performance.now();
}

/**
 * For every pair that was probed more than once: how many probes of its scan lie between the first one and the kill
 * because of which it came again. Infinite without such a kill.
 */
function overlaps(done: readonly { at: number; over: number }[]): number[] {
  const ofAddress = Map.groupBy(field.connects(0), ({ pair }) => pair.split(':')[0]);
  return [...ofAddress.values()].flatMap((probes) =>
    [...Map.groupBy(probes, ({ pair }) => pair).values()].flatMap((same) =>
      same.slice(1).map(({ at: again }, index) => {
        const { at: before } = same[index] as { at: number };
        const kill = done.find(({ at, over }) => over >= before && at <= again);
        if (kill === undefined) return Number.POSITIVE_INFINITY;
        const [from, to] = [Math.min(before, kill.at), Math.max(before, kill.at)];
        return probes.filter(({ at }) => at > from && at <= to).length;
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
  it(`${kills} times under ${clients} running scans and ${clients} clients loses nothing`, async () => {
    const startedAt = performance.now();
    const submissions = Array.from({ length: clients }, async (_, client) => {
      const acknowledged: Acknowledged[] = [];
      for (let scan = 0; scan < scansPerClient; scan++) {
        acknowledged.push(await insist(addressOf(client, scan)));
        await sleep(Math.random() * restMs);
      }
      return acknowledged;
    });
    const done = await killAgainAndAgain();
    const killedMs = performance.now() - startedAt;
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
    const again = overlaps(await Promise.all(done.map(async ({ at, over }) => ({ at, over: await over }))));
    const worst = Math.max(0, ...again);
    console.log(
      `${kills} kills in ${Math.round(killedMs / 1000)} s, ${acknowledged.length} scans, ended after ` +
        `${Math.round((performance.now() - startedAt) / 1000)} s; resumes up to ${Math.max(...resumes)}, ` +
        `${again.length} of ${field.contacts.length} probes repeated, at most ${worst} probes from their kill`,
    );
    expect(worst).toBeLessThanOrEqual(lastProbes);
  }, 360_000);
});
