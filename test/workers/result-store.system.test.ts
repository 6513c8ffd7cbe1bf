import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { S3Store } from '../../src/workspace/result-store/s3-store.ts';
import { Home } from '../cli/command.ts';
import { postgresObstacle, storeDatabase } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { rounds } from '../rounds.ts';
import { startSwift, swiftObstacle } from '../swift.ts';

const address = '127.86.7.1';
const storeOf = (folder: string) => ({ SERVICE_WORKSPACE__RESULT_STORE__URL: pathToFileURL(folder).href });

describe('a result store', () => {
  let results: string;
  let target: Server;
  const opened: ServerProcess[] = [];

  beforeAll(async () => {
    target = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7\r\n');
    });
    await new Promise<void>((resolve) => target.listen(2222, address, resolve));
  });
  afterAll(() => target.close());

  beforeEach(() => {
    results = mkdtempSync(join(tmpdir(), 'portolan-results-'));
  });
  afterEach(async () => {
    for (const server of opened.splice(0)) await server.dispose();
    rmSync(results, { recursive: true, force: true });
  });

  const serverWith = (env: NodeJS.ProcessEnv) => {
    const server = new ServerProcess({ env: { ...storeOf(results), ...env } });
    opened.push(server);
    return server;
  };
  const scan = async (server: ServerProcess): Promise<string> => {
    const scanId = await server.submit({ targets: [address], ports: '2222-2225', rate: 1000 });
    expect(await server.waitForEnd(scanId)).toMatchObject({ status: 'completed' });
    return scanId;
  };
  const filesOf = (scanId: string): string[] => {
    try {
      return readdirSync(join(results, '_', scanId));
    } catch {
      return [];
    }
  };
  const sealed = (scanId: string) => expect.poll(() => filesOf(scanId)).toContain('manifest.json');
  const text = async (server: ServerProcess, path: string): Promise<string> => {
    const { status, body } = await server.request(`/api/v1/${path}`);
    expect(status, `${path}: ${JSON.stringify(body)}`).toBe(200);
    return typeof body === 'string' ? body : JSON.stringify((body as { data: unknown }).data);
  };

  it.skipIf(postgresObstacle() !== null)(
    'lets every server read what another one found, also after that one is gone for good',
    async () => {
      try {
        const SERVICE_QUEUE__URL = await storeDatabase();
        const [home, other] = [serverWith({ SERVICE_QUEUE__URL }), serverWith({ SERVICE_QUEUE__URL })];
        await home.start();
        const [first, second] = [await scan(home), await scan(home)];
        await sealed(second);
        const reads = [
          `scans/${first}/results?format=jsonl`,
          `scans/${first}/records`,
          `scans/${first}/events`,
          `scans/${first}/diff?against=${second}`,
          `workspace/scans/${first}/export?format=csv`,
        ];
        const expected = await Promise.all(reads.map((path) => text(home, path)));
        expect(expected[0]).toContain('OpenSSH');
        await home.dispose();
        await other.start();
        for (const [index, path] of reads.entries())
          expect(await text(other, path), path).toBe(expected[index]);
        const archive = await other.request(`/api/v1/workspace/scans/${first}/export?format=tar.gz`);
        expect(archive.status).toBe(200);
        expect(readdirSync(join(other.workspace, 'cache/results')).sort()).toEqual([first, second].sort());
        const deleted = await other.request(`/api/v1/scans/${first}`, { method: 'DELETE' });
        expect(deleted.status).toBe(200);
        expect(filesOf(first)).toEqual([]);
      } finally {
        for (const server of opened.splice(0)) await server.dispose();
      }
    },
    150_000,
  );

  it('has every scan whole although its server is killed with -9 while it stores them', async () => {
    const server = serverWith({});
    const scans: string[] = [];
    const kills = rounds(4, 2);
    for (let kill = 0; kill < kills; kill++) {
      await server.start();
      scans.push(await scan(server));
      await sleep((kill * 45) / (kills - 1));
      await server.stop('SIGKILL');
    }
    await server.start();
    for (const scanId of scans) await sealed(scanId);
    for (const scanId of scans) {
      const { files } = JSON.parse(readFileSync(join(results, '_', scanId, 'manifest.json'), 'utf8')) as {
        files: { name: string; size: number }[];
      };
      for (const { name, size } of files)
        expect(readFileSync(join(results, '_', scanId, name)).length, name).toBe(size);
      const before = await text(server, `scans/${scanId}/results?format=jsonl`);
      rmSync(join(server.workspace, 'scans', scanId), { recursive: true });
      expect(await text(server, `scans/${scanId}/results?format=jsonl`)).toBe(before);
      if (scanId === scans.at(-1)) continue;
      expect((await server.request(`/api/v1/scans/${scanId}`, { method: 'DELETE' })).status).toBe(200);
      expect(filesOf(scanId)).toEqual([]);
    }
    await server.stop();
    const [last = ''] = scans.slice(-1);
    const command = new Home();
    const deleted = await command.run(
      ['workspace', 'delete', last, '--force', '--workspace-dir', server.workspace],
      {
        env: storeOf(results),
      },
    );
    command.remove();
    expect(deleted.code, deleted.stderr).toBe(0);
    expect(filesOf(last)).toEqual([]);
  });

  it.skipIf(swiftObstacle() !== null)(
    'may be an S3-compatible service',
    async () => {
      const swift = await startSwift();
      try {
        await swift.bucket('results');
        const server = serverWith({
          SERVICE_WORKSPACE__RESULT_STORE__URL: 's3://results/lab',
          SERVICE_WORKSPACE__RESULT_STORE__S3__ENDPOINT: swift.endpoint,
          SERVICE_WORKSPACE__RESULT_STORE__S3__ACCESS_KEY: swift.accessKey,
          SERVICE_WORKSPACE__RESULT_STORE__S3__SECRET_KEY: swift.secretKey,
        });
        await server.start();
        const scanId = await scan(server);
        const before = await text(server, `scans/${scanId}/results?format=jsonl`);
        const bucket = new S3Store({ ...swift, region: 'us-east-1', bucket: 'results', prefix: 'lab' });
        const isThere = async () => {
          const bytes = await bucket.read(`_/${scanId}/manifest.json`, 0);
          return bytes !== null && (await Array.fromAsync(bytes)).length > 0;
        };
        await expect.poll(isThere).toBe(true);
        await sleep(200);
        rmSync(join(server.workspace, 'scans', scanId), { recursive: true });
        expect(await text(server, `scans/${scanId}/results?format=jsonl`)).toBe(before);
        expect((await server.request(`/api/v1/scans/${scanId}`, { method: 'DELETE' })).status).toBe(200);
        expect(await isThere()).toBe(false);
      } finally {
        await swift.remove();
      }
    },
    120_000,
  );

  it.each([
    ['an unknown scheme', 'ftp://example.net/results', 'workspace.result_store.url: must be file:///'],
    ['no bucket', 's3://', 'workspace.result_store.url: must be'],
    ['no keys', 's3://results', 'needs workspace.result_store.s3.endpoint'],
    [
      'a missing directory',
      'file:///nowhere/results',
      'workspace.result_store.url: the directory is missing',
    ],
  ])(
    'with %s keeps the server from starting',
    async (_what, url, message) => {
      const server = serverWith({ SERVICE_WORKSPACE__RESULT_STORE__URL: url });
      const error = await server.start().then(
        () => null,
        (reason: Error) => reason.message,
      );
      expect(error).toContain('the server ended with 3');
      expect(error).toContain(message);
    },
    30_000,
  );
});
