import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, type ScanDetail, ServerProcess } from '../program.ts';
import { TargetField } from './target-field.ts';

/** Scans side by side, and how many come one after the other; each is stopped at a moment of its own. */
const lanes = 5;
const rounds = 4;
const moments = rounds * lanes;

const addressesOf = (lane: number) => Array.from({ length: 8 }, (_, index) => `127.83.${lane}.${index + 1}`);
/** Contacts of a whole scan: 320 connections of the sweep and some ten to each silent port that it finds. */
const submission = (lane: number, ports: number[]) => ({
  targets: [`127.83.${lane}.1-8`],
  ports,
  rate: 100,
  // Connections: what reaches a listener by raw packets alone is not to be seen from here.
  options: { timeout: '600ms', retries: 0, scan_type: 'connect' },
});
/** A moment is so many contacts after the one before, at most: a scan that is stopped twice is far from its end. */
const mostContacts = 150;

/** However slow the machine is. */
const patience = { timeout: 120_000, interval: 50 };

let field: TargetField;
/** Hosts that greet whoever connects, so that a whole scan of them is soon over. */
let polite: TargetField;
const politeLane = 200;
const server = new ServerProcess({ args: ['--workers', String(lanes)] });
beforeAll(async () => {
  // Half of a host's ports would make it answer everything; 40 stay below that.
  field = await TargetField.open(Array.from({ length: lanes }, (_, lane) => addressesOf(lane)).flat(), 40);
  polite = await TargetField.open(addressesOf(politeLane), 40, 'SSH-2.0-OpenSSH_9.2p1\r\n');
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  field?.close();
  polite?.close();
});

async function control(scanId: string, verb: string): Promise<{ status: number; data: ScanDetail }> {
  const { status, body } = await server.request(`/api/v1/scans/${scanId}/${verb}`, { method: 'POST' });
  return { status, data: (body as { data: ScanDetail }).data };
}

async function pairsOf(scanId: string): Promise<string[]> {
  const { body } = await server.request(`/api/v1/scans/${scanId}/results`);
  const { results } = (body as { data: { results: { host: string; ports: { port: number }[] }[] } }).data;
  return results.flatMap((host) => host.ports.map(({ port }) => `${host.host}:${port}`)).sort();
}

/** Waits until so many more contacts have reached the addresses of a lane. */
async function untilReached(of: TargetField, lane: number, contacts: number): Promise<void> {
  const prefix = `127.83.${lane}.`;
  const before = of.since(0, prefix).length;
  await expect.poll(() => of.since(0, prefix).length - before, patience).toBeGreaterThanOrEqual(contacts);
}

const untilRunning = (scanId: string) =>
  expect.poll(async () => (await server.detail(scanId)).status, patience).toBe('running');

/** One lane's scans are stopped before anything reached them, the others' somewhere in sweep and services. */
const randomMoment = (lane: number) => (lane === 0 ? 0 : Math.ceil(Math.random() * mostContacts));

describe('pause and cancel', () => {
  it(`at ${moments} random moments silence a scan within a second`, async () => {
    const round = async (lane: number) => {
      const scanId = await server.submit(submission(lane, field.ports));
      await untilRunning(scanId);
      await untilReached(field, lane, randomMoment(lane));
      const paused = await control(scanId, 'pause');
      expect(paused.status).toBe(200);
      expect(paused.data).toMatchObject({ status: 'running', progress: { paused: true, rate: 0 } });
      expect((await control(scanId, 'pause')).status).toBe(200);
      expect(await field.afterStop(`127.83.${lane}.`)).toEqual([]);
      expect((await server.detail(scanId)).status).toBe('running');

      const resumed = await control(scanId, 'resume');
      expect(resumed.data).toMatchObject({ status: 'running', progress: { paused: false } });
      await untilReached(field, lane, Math.ceil((Math.random() * mostContacts) / 2));
      const { data } = await control(scanId, 'cancel');
      expect(data).toMatchObject({
        status: 'failed',
        error: { code: 'canceled' },
        progress: { paused: false },
      });
      expect(await field.afterStop(`127.83.${lane}.`)).toEqual([]);
      const found = await pairsOf(scanId);
      expect(new Set(found).size).toBe(found.length);
    };
    const allOf = async (lane: number) => {
      for (let turn = 0; turn < rounds; turn++) await round(lane);
    };
    await Promise.all(Array.from({ length: lanes }, (_, lane) => allOf(lane)));
    expect(field.open).toBe(0);
    // One process waits for the next scan.
    await expect.poll(() => server.scanProcesses().length, patience).toBeLessThanOrEqual(1);
  });

  it('a scan that was paused finds what one that was not finds, over a kill -9 of the server', async () => {
    const scanId = await server.submit(submission(politeLane, polite.ports));
    await untilReached(polite, politeLane, 50);
    expect((await control(scanId, 'pause')).data).toMatchObject({ progress: { paused: true } });
    const orphans = server.scanProcesses();
    expect(orphans).not.toEqual([]);
    await server.stop('SIGKILL');
    await expect.poll(() => orphans.filter(isAlive), patience).toEqual([]);
    await polite.settled();
    const before = polite.contacts.length;
    await server.start();
    // A scan that was submitted later comes to its end: the paused one was passed over.
    const later = await server.submit({ ...submission(0, [1]), dag: 'port-scan' });
    expect(await server.waitForEnd(later)).toMatchObject({ status: 'completed' });
    expect(await server.detail(scanId)).toMatchObject({ status: 'running', progress: { paused: true } });
    await expect.poll(() => server.scanProcesses().length, patience).toBeLessThanOrEqual(1);
    expect(polite.contacts.slice(before)).toEqual([]);
    await control(scanId, 'resume');
    expect(await server.waitForEnd(scanId)).toMatchObject({ status: 'completed' });
    const expected = addressesOf(politeLane).flatMap((address) =>
      polite.ports.map((port) => `${address}:${port}`),
    );
    expect(await pairsOf(scanId)).toEqual(expected.sort());
    expect((await control(scanId, 'pause')).status).toBe(409);
    expect((await control(scanId, 'resume')).status).toBe(409);
  });
});
