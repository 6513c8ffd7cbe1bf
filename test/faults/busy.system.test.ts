import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../program.ts';

const server = new ServerProcess();
beforeAll(() => server.start());
afterAll(() => server.dispose());

const agent = new Agent({ keepAlive: true, maxSockets: 50 });
afterAll(() => agent.destroy());

/** Milliseconds that one answer takes; the status must be 200. */
function timed(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const asked = get(`${server.url}${path}`, { agent }, (answer) => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) resolve(performance.now() - begun);
        else reject(new Error(`${path}: ${answer.statusCode}`));
      });
    });
    asked.on('error', reject);
  });
}

/** 50 clients read so often each, some 20 times a second. @returns milliseconds that 99 of 100 answers take at most */
async function slowestOfReaders(paths: string[], turns: number): Promise<number> {
  const times: number[] = [];
  const reader = async (number: number) => {
    for (let turn = number; turn < number + turns; turn++) {
      times.push(await timed(paths[turn % paths.length] as string));
      await sleep(50);
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, number) => reader(number)));
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] as number;
}

describe('a server that scans', () => {
  it('answers 50 readers during a scan of 256 addresses and 1,000 ports', async () => {
    const paths = ['/api/v1/scans', '/api/v1/health', '/api/v1/workspace/info', '/api/v1/version'];
    const alone = await slowestOfReaders(paths, 10);
    const scanId = await server.submit({
      targets: ['127.84.0.0/24'],
      ports: '20000-20999',
      rate: 20_000,
      options: { discover: false, timeout: '200ms', retries: 0, concurrency: 1000 },
    });
    await expect.poll(async () => (await server.detail(scanId)).status).toBe('running');
    await expect.poll(async () => (await server.detail(scanId)).progress.rate).toBeGreaterThan(0);
    const beside = await slowestOfReaders([...paths, `/api/v1/scans/${scanId}`], 20);
    const { status, progress } = await server.detail(scanId);
    console.log(
      `p99 ${alone.toFixed(0)} ms alone, ${beside.toFixed(0)} ms beside the scan (bench:api has the bar), ` +
        `${status} at ${progress.percent} %`,
    );
    // A server that waits for the scan gives its thousand answers when that is over; both take turns on any machine.
    expect(status).toBe('running');
    const health = (await server.request('/api/v1/health')).body as { status: string };
    expect(health.status).not.toBe('unhealthy');
    await server.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
  });
});
