import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { Listeners } from '../cli/listeners.ts';
import { residentBytes } from '../program.ts';

/** Every bar below is the whole program's: one scan in a process of its own, over services that mean harm. */
const timeoutMs = 1000;
const memoryBar = 64 * 1024 * 1024;

const home = new Home();
const listeners = new Listeners();
afterAll(() => {
  listeners.close();
  home.remove();
});

interface FoundPort {
  port: number;
  state: string;
  banner: string;
  banner_b64: string | null;
  truncated: boolean;
  partial?: boolean;
  service: { name: string; product: string | null } | null;
  tls: object | null;
  attributes: Record<string, Record<string, unknown>>;
}

interface Ended {
  ports: Map<number, FoundPort>;
  status: string;
  warnings: { code: string; message: string }[];
  seconds: number;
  peak: number;
}

/** Scans these ports of loopback and watches the memory of the process meanwhile. */
async function scan(ports: number[]): Promise<Ended> {
  let peak = 0;
  let watch: NodeJS.Timeout | undefined;
  const timeout = `${timeoutMs}ms`;
  const ended = await home.start(
    [
      'scan',
      '127.0.0.1',
      '--no-discover',
      '--ports',
      ports.join(','),
      '--timeout',
      timeout,
      '--format',
      'json',
    ],
    {
      started: ({ pid }) => {
        watch = setInterval(() => {
          peak = Math.max(peak, residentBytes(pid as number));
        }, 20);
      },
    },
  );
  clearInterval(watch);
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  const data = JSON.parse(ended.stdout) as {
    status: string;
    warnings: Ended['warnings'];
    summary: { duration_seconds: number };
    results: { ports: FoundPort[] }[];
  };
  const found = data.results[0]?.ports ?? [];
  return {
    ports: new Map(found.map((port) => [port.port, port])),
    status: data.status,
    warnings: data.warnings,
    seconds: data.summary.duration_seconds,
    peak,
  };
}

/** Writes the same chunk for ever, as fast as the peer takes it. */
function flood(socket: Socket, chunk: Buffer): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
}

function onRequest(answer: (socket: Socket, request: string) => void) {
  return (socket: Socket) => {
    let request = '';
    socket.on('data', (chunk) => {
      request += chunk.toString('latin1');
      if (request.includes('\r\n\r\n')) {
        answer(socket, request);
        request = '';
      }
    });
  };
}

const letters = Buffer.alloc(64 * 1024, 'A');
let calmPeak = 0;

beforeAll(async () => {
  const polite = await Promise.all(
    Array.from({ length: 50 }, () => listeners.greet('220 mail.example ESMTP\r\n')),
  );
  calmPeak = (await scan(polite)).peak;
});

describe('one scan over hostile services', () => {
  it('fifty endless banners cost bounded time and memory', async () => {
    const ports = await Promise.all(
      Array.from({ length: 50 }, () => listeners.serve((s) => flood(s, letters))),
    );
    const { ports: found, seconds, peak } = await scan(ports);
    expect(found.size).toBe(50);
    for (const port of found.values()) {
      expect(port).toMatchObject({ state: 'open', truncated: true });
      expect(port.banner.length).toBeLessThanOrEqual(64 * 1024);
    }
    console.log(
      `50 endless banners: ${seconds} s, ${Math.round((peak - calmPeak) / 1e6)} MB above polite ones`,
    );
    // One that read on for ever would run into the limit of the test.
    expect(peak - calmPeak).toBeLessThanOrEqual(memoryBar);
  });

  it('each ends with what it gave, and the scan goes on', async () => {
    const mazePages: string[] = [];
    /** Bytes of each connection to the dripping service. */
    const drips: number[] = [];
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const binary = Buffer.concat([
      Buffer.from('hello '),
      Buffer.from([0, 13, 10, 0x80, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
    ]);
    const services = {
      drip: await listeners.serve((socket) => {
        const connection = drips.push(0) - 1;
        const timer = setInterval(() => {
          drips[connection] = (drips[connection] ?? 0) + 1;
          socket.write('x');
        }, timeoutMs - 100);
        socket.on('close', () => clearInterval(timer));
      }),
      endlessHeader: await listeners.serve(
        onRequest((socket) => {
          socket.write('HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\n');
          flood(socket, Buffer.from(`X-More: ${'h'.repeat(1000)}\r\n`));
        }),
      ),
      chunks: await listeners.serve(
        onRequest((socket) => {
          socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
          flood(socket, Buffer.from(`1;${'e'.repeat(8192)}\r\nA\r\n`));
        }),
      ),
      negativeChunk: await listeners.serve(
        onRequest((socket) =>
          socket.end(
            'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nA\r\n18446744073709551616\r\n',
          ),
        ),
      ),
      bomb: await listeners.serve(
        onRequest((socket) => {
          const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`;
          socket.end(Buffer.concat([Buffer.from(head), bomb]));
        }),
      ),
      maze: await listeners.serve(
        onRequest((socket, request) => {
          mazePages.push(request.split(' ')[1] ?? '');
          socket.end('HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n');
        }),
      ),
      tlsGarbage: await listeners.serve((socket) => {
        socket.on('data', (chunk) => socket.end(chunk[0] === 0x16 ? Buffer.alloc(512, 0x9f) : ''));
      }),
      tlsAlert: await listeners.serve((socket) => {
        socket.on('data', (chunk) =>
          socket.end(chunk[0] === 0x16 ? Buffer.from([21, 3, 3, 0, 2, 2, 40]) : ''),
        );
      }),
      reset: await listeners.serve((socket) => {
        socket.write('220 twenty bytes of x');
        // Not before the scanner has seen that it is connected: the reset would end the attempt, with what was sent.
        setTimeout(() => socket.resetAndDestroy(), 800);
      }),
      binary: await listeners.serve((socket) => socket.end(binary)),
    };
    const { ports, status, seconds, peak, warnings } = await scan(Object.values(services));
    const of = (name: keyof typeof services) => ports.get(services[name]) as FoundPort;

    expect(status).toBe('completed');
    expect(warnings.filter(({ code }) => code === 'node_failed')).toEqual([]);
    expect(ports.size).toBe(Object.keys(services).length);
    expect(of('drip')).toMatchObject({ state: 'open', truncated: true });
    expect(of('endlessHeader')).toMatchObject({
      truncated: true,
      service: { name: 'http', product: 'nginx' },
    });
    expect(of('chunks').service?.name).toBe('http');
    expect(of('negativeChunk').service?.name).toBe('http');
    expect(of('bomb').service?.name).toBe('http');
    expect(of('maze').attributes['http']).toMatchObject({ status: 302, location: '/again' });
    // A maze is entered twice at the most, and a request without a timely response is repeated once; a server without a name is
    // asked for an icon and for a page that is not there.
    expect(mazePages.filter((page) => page === '/again').length).toBeLessThanOrEqual(4);
    expect(new Set(mazePages)).toEqual(new Set(['/', '/again', '/favicon.ico', '/portolan-no-such-page']));
    expect(mazePages.length).toBeLessThanOrEqual(12);
    expect(of('tlsGarbage')).toMatchObject({ state: 'open', tls: null });
    expect(of('tlsAlert')).toMatchObject({
      state: 'open',
      tls: { error: 'the server rejected the handshake with the alert handshake failure' },
    });
    expect(of('reset')).toMatchObject({ state: 'open', banner: '220 twenty bytes of x', partial: true });
    expect(Buffer.from(of('binary').banner_b64 ?? '', 'base64')).toEqual(binary);
    expect(of('binary').banner).toBe('hello \\x00\r\n\\x80\\xff\\xc3(\\xed\\xa0\\x80');
    console.log(
      `ten hostile services: ${seconds} s, ${Math.round((peak - calmPeak) / 1e6)} MB above polite ones`,
    );
    expect(peak - calmPeak).toBeLessThanOrEqual(memoryBar);
    // A byte comes before each idle timer ends; twice the time limit has room for two or three.
    expect(Math.max(...drips)).toBeLessThanOrEqual(6);
  });

  it('a greeting split at any byte is read alike', async () => {
    const greetings: Record<string, string> = {
      ssh: 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n',
      smtp: '220 mail.example ESMTP Postfix (Debian/GNU)\r\n',
      ftp: '220 (vsFTPd 3.0.3)\r\n',
      http: 'HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nContent-Length: 2\r\n\r\nok',
    };
    const ports = new Map<number, string>();
    for (const [name, greeting] of Object.entries(greetings)) {
      for (let cut = 0; cut < greeting.length; cut++) {
        const say = (socket: Socket) => {
          socket.write(greeting.slice(0, cut));
          setTimeout(() => socket.destroyed || socket.write(greeting.slice(cut)), 5);
        };
        ports.set(await listeners.serve(name === 'http' ? onRequest(say) : say), name);
      }
    }
    const found = new Map<number, FoundPort>();
    const all = [...ports.keys()];
    // Few enough at a time not to look like a host that accepts everything.
    for (let i = 0; i < all.length; i += 40) {
      for (const [port, reading] of (await scan(all.slice(i, i + 40))).ports) found.set(port, reading);
    }
    const readings: Record<string, Set<string>> = {};
    for (const [port, name] of ports) {
      const { banner, service } = found.get(port) ?? {};
      readings[name] = (readings[name] ?? new Set()).add(JSON.stringify([banner, service]));
    }
    for (const [name, seen] of Object.entries(readings))
      expect([name, [...seen]]).toEqual([name, [expect.any(String)]]);
    expect([...(readings['http'] ?? [])][0]).toContain('"product":"nginx"');
  });

  it('a host that accepts on every port is marked, and its ports are not all talked to', async () => {
    let talked = 0;
    const ports = await Promise.all(
      Array.from({ length: 200 }, () =>
        listeners.serve((socket) => {
          talked++;
          socket.end();
        }),
      ),
    );
    const ended = await home.run(
      [
        'scan',
        '127.0.0.1',
        '--no-discover',
        '--ports',
        ports.join(','),
        '--timeout',
        '1s',
        '--format',
        'json',
      ],
      {},
    );
    const [host] = (JSON.parse(ended.stdout) as { results: { all_ports_open: boolean; ports: object[] }[] })
      .results;
    expect(host).toMatchObject({ all_ports_open: true });
    expect(host?.ports.length).toBe(200);
    console.log(`200 open ports of a liar host: ${talked} connections`);
    // One connection a port by the sweep, and the documented budget of 64 ports with a handful of probes each.
    expect(talked).toBeLessThanOrEqual(200 + 64 * 12);
  });
});
