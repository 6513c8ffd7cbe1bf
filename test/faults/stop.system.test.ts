import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { recordOfRows } from '../../bench/workspace-fixture.ts';
import { isAlive, ServerProcess } from '../program.ts';

const servers: ServerProcess[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.dispose();
});

/** A stop that waited for this would run into the limit of the test. */
const never = '10m';

/** A server whose workspace holds a finished scan of some 20 MB of results: more than sockets take in advance. */
async function startWithLargeScan(shutdownTimeout: string) {
  const server = new ServerProcess({
    args: ['--workers', '3'],
    env: { SERVICE_SERVER__SHUTDOWN_TIMEOUT: shutdownTimeout },
  });
  servers.push(server);
  const rows = 50_000;
  const scanId = await recordOfRows(server.workspace, rows);
  await server.start();
  return { server, scanId, rows };
}

/** Some seconds of connecting to ports where nobody listens. */
const longScan = {
  targets: ['127.83.0.0/24'],
  ports: [9],
  rate: 20,
  options: { discover: false, retries: 0 },
};

/** A download that nobody reads yet. */
async function beginDownload(server: ServerProcess, scanId: string): Promise<IncomingMessage> {
  const asked = get(`${server.url}/api/v1/scans/${scanId}/results?format=jsonl`, { agent: false });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  return answer.pause();
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Submits until the server is gone. */
async function submitUntilGone(server: ServerProcess) {
  const acknowledged: string[] = [];
  const refusals: { status: number; code: string; retryAfter: string | null }[] = [];
  for (;;) {
    try {
      const { status, body, headers } = await server.request('/api/v1/scans', {
        method: 'POST',
        body: JSON.stringify(longScan),
        headers: { 'content-type': 'application/json' },
      });
      if (status === 201) acknowledged.push((body as { data: { scan_id: string } }).data.scan_id);
      else {
        const { code } = (body as { error: { code: string } }).error;
        refusals.push({ status, code, retryAfter: headers.get('retry-after') });
      }
    } catch {
      return { acknowledged, refusals };
    }
    await sleep(30);
  }
}

describe('SIGTERM during scans, downloads and submissions', () => {
  it('refuses new work, ends what is under way and loses nothing', async () => {
    const { server, scanId, rows } = await startWithLargeScan(never);
    const submitting = submitUntilGone(server);
    await expect.poll(() => server.scanProcesses().length).toBe(3);
    const download = await beginDownload(server, scanId);
    const stopped = server.stop();
    await expect.poll(async () => (await server.request('/readyz')).status).toBe(503);
    const list = await server.request('/api/v1/scans');
    expect([list.status, list.headers.get('connection')]).toEqual([200, 'close']);
    const lines = (await textOf(download)).trimEnd().split('\n');
    expect(await stopped).toBe(0);
    expect(lines).toHaveLength(rows + 1);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'summary', scan_id: scanId });

    const { acknowledged, refusals } = await submitting;
    expect(acknowledged.length).toBeGreaterThan(2);
    expect(refusals.length).toBeGreaterThan(0);
    for (const refusal of refusals)
      expect(refusal).toEqual({ status: 503, code: 'unavailable', retryAfter: '5' });
    await server.start();
    const states = () => Promise.all(acknowledged.map((id) => server.detail(id)));
    for (const { status } of await states()) expect(['pending', 'running', 'completed']).toContain(status);
    const resumed = async () => (await states()).some(({ progress }) => progress.resumes > 0);
    await expect.poll(resumed).toBe(true);
    expect((await server.detail(scanId)).status).toBe('completed');
  });

  it('ends in time although somebody does not read the answer', async () => {
    const { server, scanId } = await startWithLargeScan('2s');
    const download = await beginDownload(server, scanId);
    expect(await server.stop()).toBe(0);
    download.destroy();
  });

  it('ends at once when it comes a second time', async () => {
    const { server, scanId } = await startWithLargeScan(never);
    const running = await server.submit(longScan);
    await expect.poll(() => server.scanProcesses().length).toBe(1);
    const [child] = server.scanProcesses();
    const { pid } = server;
    const download = await beginDownload(server, scanId);
    const stopped = server.stop();
    await expect.poll(async () => (await server.request('/readyz')).status).toBe(503);
    // One that comes within a moment of the first counts as the same.
    const second = setInterval(() => isAlive(pid) && process.kill(pid, 'SIGTERM'), 500);
    expect(await stopped).toBe(1);
    clearInterval(second);
    // Its scan process follows.
    await expect.poll(() => isAlive(child ?? 0)).toBe(false);
    download.destroy();
    await server.start();
    expect(['pending', 'running', 'completed']).toContain((await server.detail(running)).status);
  });
});
