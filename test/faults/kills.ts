import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../program.ts';

/** A scan that lasts some seconds: 254 addresses of loopback, paced, with five services among them. */
const submission = (ports: number[]) => ({
  targets: ['127.81.0.0/24'],
  ports,
  rate: 2500,
  options: { timeout: '500ms', retries: 0 },
});

const listeners: Server[] = [];
const ports: number[] = [];

async function openServices(): Promise<void> {
  for (let i = 1; i <= 5; i++) {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.end(`220 host-${i} ESMTP Postfix\r\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, `127.81.0.${i}`, resolve));
    listeners.push(server);
    ports.push((server.address() as { port: number }).port);
  }
}

function closeServices(): void {
  for (const server of listeners) server.close();
}

const timesOf = (kills: number) => (kills === 1 ? 'once' : `${kills} times`);

/** Every acknowledged scan is there and final, its results parse, and no (host, port) stands there twice. */
async function expectSound(server: ServerProcess, scanIds: string[]): Promise<void> {
  const endings: Record<string, number> = {};
  for (const scanId of scanIds) {
    const detail = await server.waitForEnd(scanId);
    const ending = detail.error ? detail.error.code : detail.status;
    endings[ending] = (endings[ending] ?? 0) + 1;
    await expectSoundResults(server, scanId, detail.status);
  }
  console.log(`endings of ${scanIds.length} scans: ${JSON.stringify(endings)}`);
  expect(Object.keys(endings).filter((ending) => !['completed', 'interrupted'].includes(ending))).toEqual([]);
}

async function expectSoundResults(server: ServerProcess, scanId: string, status: string): Promise<void> {
  const json = await server.request(`/api/v1/scans/${scanId}/results`);
  expect(json.status).toBe(200);
  const { results } = (json.body as { data: { results: { host: string; ports: { port: number }[] }[] } })
    .data;
  const pairs = results.flatMap((host) => host.ports.map((port) => `${host.host}:${port.port}`));
  expect(new Set(pairs).size).toBe(pairs.length);
  const expected = ports.map((port, index) => `127.81.0.${index + 1}:${port}`).sort();
  if (status === 'completed') expect(pairs.sort()).toEqual(expected);
  else expect(expected).toEqual(expect.arrayContaining(pairs));

  const lines = ((await server.request(`/api/v1/scans/${scanId}/results?format=jsonl`)).body as string)
    .trim()
    .split('\n');
  const rows = lines.map((line) => JSON.parse(line) as { type: string; host: string; port?: number });
  expect(rows.at(-1)?.type).toBe('summary');
  const portRows = rows.filter((row) => row.type === 'port').map((row) => `${row.host}:${row.port}`);
  expect(new Set(portRows).size).toBe(portRows.length);
}

/** @param kills of the server, and as many of the scan process */
export function testKills(kills: number): void {
  beforeAll(openServices);
  afterAll(closeServices);

  describe('kill -9', () => {
    it(`of the server, ${timesOf(kills)} under running scans, loses no acknowledged scan`, async () => {
      const server = new ServerProcess();
      const scanIds: string[] = [];
      try {
        for (let kill = 0; kill < kills; kill++) {
          await server.start();
          scanIds.push(await server.submit(submission(ports)));
          await sleep(Math.random() * 900);
          await server.stop('SIGKILL');
        }
        await server.start();
        await expectSound(server, scanIds);
      } finally {
        await server.dispose();
      }
    });

    it(`of the scan process, ${timesOf(kills)}, ends every scan soundly`, async () => {
      const server = new ServerProcess();
      const scanIds: string[] = [];
      try {
        await server.start();
        let killed = 0;
        for (let tries = 0; killed < kills && tries < kills * 4; tries++) {
          if (tries % 2 === 0) scanIds.push(await server.submit(submission(ports)));
          await sleep(100 + Math.random() * 600);
          const victim = server.scanProcesses().at(0);
          if (victim === undefined) continue;
          process.kill(victim, 'SIGKILL');
          killed++;
        }
        expect(killed).toBe(kills);
        await expectSound(server, scanIds);
        const health = await server.request('/api/v1/health');
        // Degraded is what health says without the right to raw sockets.
        expect(['healthy', 'degraded']).toContain((health.body as { status: string }).status);
      } finally {
        await server.dispose();
      }
    });
  });
}
