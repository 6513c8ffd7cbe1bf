import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordOfRows } from '../../bench/workspace-fixture.ts';
import { ownBytes, ServerProcess } from '../program.ts';

const server = new ServerProcess();
let largeScan = '';
beforeAll(async () => {
  largeScan = await recordOfRows(server.workspace, 50_000);
  await server.start();
});
afterAll(() => server.dispose());

function open(): Socket {
  const { hostname, port } = new URL(server.url);
  return connect(Number(port), hostname).on('error', () => undefined);
}

/** Sends bytes as they are and reads what comes until the server closes. */
async function exchange(send: (socket: Socket) => void): Promise<string> {
  const socket = open();
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk));
  send(socket);
  // Not by once(): that fails on the error which a server that has enough may cause.
  await new Promise((resolve) => socket.on('close', resolve));
  return answer;
}

/** All are answered. @returns milliseconds that 99 of 100 need at most */
async function slowestOf(requests: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    const begun = performance.now();
    const [answer] = (await once(get(`${server.url}/api/v1/scans`, { agent }), 'response')) as [
      IncomingMessage,
    ];
    await once(answer.resume(), 'end');
    expect(answer.statusCode).toBe(200);
    times.push(performance.now() - begun);
  }
  agent.destroy();
  return times.sort((a, b) => a - b)[Math.floor(requests * 0.99)] as number;
}

/** Waits until the server has read what it reads in advance for answers that nobody takes. */
async function untilNothingIsRead(): Promise<void> {
  const bytesRead = () => Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${server.pid}/io`, 'utf8'))?.[1]);
  for (let before = 0; ; ) {
    const now = bytesRead();
    // Beside the downloads it reads a little now and then.
    if (now - before < 2 ** 18) return;
    before = now;
    await sleep(500);
  }
}

describe('slow clients', () => {
  it('do not slow others down: 500 that send a byte of their headers a second', async () => {
    const before = await slowestOf(200);
    const head = `GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ${'x'.repeat(60)}`;
    const slow = Array.from({ length: 500 }, open);
    await Promise.all(slow.map((socket) => once(socket, 'connect')));
    let at = 0;
    const drip = setInterval(() => {
      for (const socket of slow) socket.write(head[at] ?? 'x');
      at++;
    }, 1000);
    await expect.poll(() => at).toBeGreaterThan(0);
    const during = await slowestOf(200);
    clearInterval(drip);
    expect(slow.filter((socket) => socket.destroyed)).toEqual([]);
    for (const socket of slow) socket.destroy();
    console.log(`p99 ${before.toFixed(1)} ms alone, ${during.toFixed(1)} ms beside 500 slow clients`);
  });

  it('that do not read cost the server no memory', async () => {
    const before = ownBytes(server.pid);
    const answers: IncomingMessage[] = [];
    for (const format of ['jsonl', 'json', 'csv']) {
      for (let i = 0; i < 8; i++) {
        const url = `${server.url}/api/v1/scans/${largeScan}/results?format=${format}`;
        const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
        answers.push(answer.pause());
      }
    }
    await untilNothingIsRead();
    const grown = (ownBytes(server.pid) - before) / 2 ** 20;
    for (const answer of answers) answer.on('error', () => undefined).destroy();
    console.log(`24 downloads that nobody reads: ${grown.toFixed(0)} MiB`);
    // Whole answers would be 400 MiB.
    expect(grown).toBeLessThan(120);
  });
});

describe('oversize requests', () => {
  const head = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
  const mebibyte = 'x'.repeat(2 ** 20);
  /** More than a server may take, piece by piece, until it has enough. */
  const flood = (begin: string, piece: string, pieces: number) => (socket: Socket) => {
    socket.write(begin);
    for (let i = 0; i < pieces; i++) socket.write(piece);
  };

  it.each([
    ['a URL of 1 MiB', 414, 'uri_too_long', flood(`GET /${mebibyte}`, '', 0)],
    ['10,000 headers', 431, 'headers_too_large', flood('GET / HTTP/1.1\r\nHost: a\r\n', 'A: b\r\n', 10_000)],
    [
      'a body above its limit, announced',
      413,
      'payload_too_large',
      flood(head('POST /api/v1/scans', 'Connection: close\r\nContent-Length: 8388608\r\n'), mebibyte, 8),
    ],
    [
      'a body above its limit, in chunks',
      413,
      'payload_too_large',
      flood(
        head('POST /api/v1/scans', 'Connection: close\r\nTransfer-Encoding: chunked\r\n'),
        `100000\r\n${mebibyte}\r\n`,
        8,
      ),
    ],
    ['no Host', 400, 'invalid_request', flood('GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', '', 0)],
  ])('are answered, and the server stays small: %s', async (_case, status, code, send) => {
    const before = ownBytes(server.pid);
    for (const answer of await Promise.all(Array.from({ length: 20 }, () => exchange(send)))) {
      expect(answer.slice(0, 200)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer).toContain(`"code":"${code}"`);
    }
    expect((ownBytes(server.pid) - before) / 2 ** 20).toBeLessThan(100);
    expect((await server.request('/health')).status).toBe(200);
  });

  it('an expectation that nobody knows is no reason to refuse', async () => {
    const request = head('GET /health', 'Connection: close\r\nExpect: something\r\n');
    expect(await exchange((socket) => socket.write(request))).toMatch(/^HTTP\/1.1 200 /);
  });
});
