import { generateKeyPairSync, sign } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, createServer as createTlsServer, TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../test/cli/listeners.ts';
import { closeServers, listen, openConnections, tryModule } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import type { PortCounts } from '../../domain/host.ts';
import { type Banner, bannerBytes, tlsRejection } from '../../domain/text/banner.ts';
import { observedService } from '../../knowledge/rules/claims.ts';
import banner_grabber from './banner_grabber.ts';

// Once for all: tests that run at the same time have their servers beside each other.
afterAll(closeServers);

const open = (port: number, host = '127.0.0.1') => ({
  host,
  port,
  protocol: 'tcp',
  state: 'open',
  reason: 'syn-ack',
});

/** For listeners that count connections: no other test scans it. */
const ownHost = '127.86.0.4';

async function grab(
  ports: number[],
  config: Record<string, unknown> = {},
  inputs: Record<string, unknown[]> = {},
  host = '127.0.0.1',
) {
  const { published } = await tryModule(banner_grabber, {
    config: { timeout: '400ms', ...config },
    inputs: { open_ports: ports.map((port) => open(port, host)), ...inputs },
    targets: [host],
  });
  return (published.get('banners') ?? []) as Banner[];
}

async function grabOne(
  serve: (socket: Socket) => void,
  config: Record<string, unknown> = {},
): Promise<Banner> {
  const port = await listen(serve);
  const banners = await grab([port], config);
  expect(banners).toHaveLength(1);
  return banners[0] as Banner;
}

describe('services', { concurrent: true }, () => {
  it('exchanges the SSH version and reads the KEXINIT packet', async () => {
    const packet = Buffer.from('0000000c0614' + '00'.repeat(10), 'hex');
    let said = '';
    const banner = await grabOne((socket) => {
      socket.write('SSH-2.0-Trial_1.0 Debian-1\r\n');
      socket.on('data', (bytes) => {
        said += bytes.toString('latin1');
        socket.write(packet);
      });
    });
    expect(said).toBe('SSH-2.0-Portolan\r\n');
    expect(banner).toMatchObject({ probe: 'ssh', truncated: false, partial: false });
    expect(bannerBytes(banner)).toEqual(
      Buffer.concat([Buffer.from('SSH-2.0-Trial_1.0 Debian-1\r\n'), packet]),
    );
  });

  it('sends HTTP to a waiting server on any port and ends with the response', async () => {
    let request = '';
    const banner = await grabOne((socket) => {
      socket.on('data', (bytes) => {
        request += bytes.toString('latin1');
        if (request.endsWith('\r\n\r\n'))
          socket.write('HTTP/1.1 200 OK\r\nServer: t\r\nContent-Length: 2\r\n\r\nhi');
      });
    });
    expect(request).toMatch(
      /^GET \/ HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\nUser-Agent: Portolan\/\d+\.\d+\r\n/,
    );
    expect(banner).toMatchObject({ probe: 'http', truncated: false });
    expect(banner.banner).toMatch(/\r\n\r\nhi$/);
  });

  it.each([
    ['as it is', (text: string) => text],
    ['in upper case', (text: string) => text.toUpperCase()],
    ['backwards', (text: string) => [...text].reverse().join('')],
  ])('records the request of a server that repeats it %s, which is echo', async (_form, change) => {
    const port = await listen((socket) => {
      socket.on('data', (bytes) => socket.write(change(bytes.toString('latin1')), 'latin1'));
    });
    for (const banner of await grab([port])) {
      const sent = banner.exchange?.map(({ sent_b64 }) => Buffer.from(sent_b64, 'base64').toString('latin1'));
      expect(banner.banner.toLowerCase()).toBe(change(sent?.join('') ?? '').toLowerCase());
      expect(observedService(banner)).toBe('echo');
    }
  });

  it('waits for a web server that takes half of the timeout', async () => {
    const banner = await grabOne(
      (socket) => {
        socket.once('data', () =>
          setTimeout(() => socket.end('HTTP/1.1 200 OK\r\nServer: trial\r\n\r\nlate'), 1000),
        );
      },
      { timeout: '2s' },
    );
    expect(banner.banner).toContain('late');
  });

  it('registers with an IRC server, echoes its number, requests the version and quits', async () => {
    let said = '';
    const banner = await grabOne((socket) => {
      socket.write(':irc.example NOTICE * :*** Looking up your hostname...\r\n');
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1');
        said += text;
        if (text.startsWith('NICK ')) socket.write('PING :4711\r\n');
        if (text.startsWith('PONG :4711\r\n')) socket.end(':irc.example 004 x irc.example Trial-1.2 o\r\n');
      });
    });
    expect(banner.probe).toBe('irc');
    expect(banner.banner).toContain('Trial-1.2');
    expect(said).toMatch(/^NICK (p\w{8})\r\nUSER \1 0 \* :portolan\r\nPONG :4711\r\nVERSION\r\nQUIT\r\n$/);
  });

  it('sends LHLO where EHLO is rejected, then QUIT', async () => {
    let said = '';
    const banner = await grabOne((socket) => {
      socket.write('220 mx.example LMTP Mail\r\n');
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1');
        said += text;
        if (text.startsWith('EHLO')) socket.write('500 5.5.1 Unknown command\r\n');
        if (text.startsWith('LHLO')) socket.write('250-mx.example\r\n250 PIPELINING\r\n');
      });
    });
    expect(observedService(banner)).toBe('lmtp');
    await expect.poll(() => said).toBe('EHLO portolan.invalid\r\nLHLO portolan.invalid\r\nQUIT\r\n');
  });

  it('says EHLO to a mail server and QUIT at the end', async () => {
    let said = '';
    const banner = await grabOne((socket) => {
      socket.write('220 mx.example ESMTP Trial\r\n');
      socket.on('data', (bytes) => {
        said += bytes.toString('latin1');
        if (bytes.includes('EHLO')) socket.write('250-mx.example\r\n250 SIZE 1000\r\n');
      });
    });
    expect(banner.probe).toBe('smtp');
    expect(banner.banner).toBe('220 mx.example ESMTP Trial\r\n250-mx.example\r\n250 SIZE 1000\r\n');
    await expect.poll(() => said).toBe('EHLO portolan.invalid\r\nQUIT\r\n');
  });

  it('probes Redis on an odd port after its response to HTTP reveals it', async () => {
    const banner = await grabOne((socket) => {
      socket.on('data', (bytes) => {
        if (bytes.includes('INFO server')) socket.write('$24\r\n# Server\r\nredis_version:7\r\n');
        else socket.write("-ERR unknown command 'GET'\r\n");
      });
    });
    expect(banner.probe).toBe('redis');
    expect(banner.banner).toContain('redis_version');
  });

  it('probes PostgreSQL on a new connection when it offers TLS', async () => {
    const error = Buffer.concat([Buffer.from('E\0\0\0\x10SFATAL\0C28000\0\0', 'latin1')]);
    error.writeUInt32BE(error.length - 1, 1);
    const port = await listen((socket) => {
      socket.on('data', (bytes) => {
        if (bytes.length === 8) socket.write('S');
        else if (bytes[4] === 0 && bytes[5] === 3) socket.end(error);
        else socket.end();
      });
    });
    const banners = await grab([port]);
    expect(banners.map((banner) => banner.probe).sort()).toEqual(['postgresql', 'postgresql-startup']);
    expect(banners.find((banner) => banner.probe === 'postgresql-startup')?.banner).toContain('FATAL');
  });

  it('only listens with probes: none', async () => {
    let received = 0;
    const banner = await grabOne((socket) => socket.on('data', (bytes) => (received += bytes.length)), {
      probes: 'none',
    });
    expect(banner).toMatchObject({ banner: '', probe: 'null' });
    expect(received).toBe(0);
  });

  it('lists a port that does not let us in any more', async () => {
    const port = await freePort();
    expect(await grab([port])).toEqual([
      {
        host: '127.0.0.1',
        port,
        protocol: 'tcp',
        banner: '',
        unidentified_reason: 'cut',
        probe: 'null',
        truncated: false,
        partial: false,
      },
    ]);
  });

  it('never connects to printers', async () => {
    let connections = 0;
    await listen(() => connections++, ownHost, 9103);
    const banners = await grab([9103], {}, {}, ownHost);
    expect(banners).toHaveLength(1);
    expect(connections).toBe(0);
  });

  it('finds open ports by itself when nothing scanned before', async () => {
    const port = await listen((socket) => socket.end('220 ftp ready\r\n'));
    const { published } = await tryModule(banner_grabber, {
      config: { timeout: '300ms', ports: `${port},1` },
      inputs: { targets: [] },
    });
    expect((published.get('banners') as Banner[]).map((banner) => banner.port)).toEqual([port]);
  });
});

describe('TLS', { concurrent: true }, () => {
  /** One DER element (X.690); content of at most 65,535 bytes. */
  const der = (tag: number, ...content: Uint8Array[]) => {
    const body = Buffer.concat(content);
    const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255];
    return Buffer.concat([Buffer.from([tag, ...length]), body]);
  };

  /** A self-signed certificate (RFC 5280) with a fresh P-256 key. */
  const certificate = () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const ecdsaWithSha256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
    const commonName = der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('trial.invalid')));
    const name = der(0x30, der(0x31, commonName));
    const validity = der(
      0x30,
      ...['250101000000Z', '450101000000Z'].map((date) => der(0x17, Buffer.from(date))),
    );
    const subjectKey = publicKey.export({ type: 'spki', format: 'der' });
    const content = der(0x30, der(2, Buffer.from([1])), ecdsaWithSha256, name, validity, name, subjectKey);
    const signature = sign('sha256', content, privateKey);
    const whole = der(0x30, content, ecdsaWithSha256, der(3, Buffer.from([0]), signature));
    const pem = whole.toString('base64').replace(/.{64}/g, '$&\n');
    return {
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      cert: `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`,
    };
  };

  it('talks to a TLS server that has no certificate', async () => {
    const server = createTlsServer({ ciphers: 'AECDH:@SECLEVEL=0', maxVersion: 'TLSv1.2' }, (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    });
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const [banner] = await grab([port], { timeout: '1500ms' });
    server.close();
    expect(banner?.banner).toContain('HTTP/1.1 200 OK');
    expect(banner?.tls?.cipher).toMatch(/anon/i);
    expect(banner?.tls?.chain).toEqual([]);
    expect(banner?.tls_error).toBeUndefined();
  });

  it('finds HTTP inside TLS on an odd port, with version, suite and chain', async () => {
    const server = createTlsServer(certificate(), (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    });
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const [banner] = await grab([port], { timeout: '1500ms' });
    server.close();
    expect(banner).toMatchObject({
      probe: 'http',
      tls: { version: 'TLSv1.3', cipher: expect.stringMatching(/^TLS_/) },
    });
    expect(banner?.tls?.chain).toHaveLength(1);
    expect(banner?.banner).toMatch(/^HTTP\/1\.1 200/);
  });

  it('takes up the TLS that PostgreSQL offers', async () => {
    const context = createSecureContext(certificate());
    const port = await listen((socket) => {
      socket.once('data', (bytes) => {
        if (bytes.length !== 8) return socket.end('E\0\0\0\x1aSFATAL\0C28000\0Mno\0\0');
        socket.write('S');
        new TLSSocket(socket, { isServer: true, secureContext: context }).on('error', () => undefined);
      });
    });
    const banners = await grab([port]);
    expect(banners.map((banner) => banner.probe).sort()).toEqual(['postgresql', 'postgresql-startup']);
    expect(banners.find((banner) => banner.probe === 'postgresql')?.tls?.chain).toHaveLength(1);
  });

  it('addresses a server by the requested name', async () => {
    const called: (string | undefined)[] = [];
    const server = createTlsServer(certificate(), (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        called.push(String(socket.servername), /^Host: (.+)\r$/m.exec(String(bytes))?.[1]);
        socket.end('HTTP/1.1 200 OK\r\nServer: trial\r\nContent-Length: 0\r\n\r\n');
      });
    });
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const targets = [
      { kind: 'ip', value: '127.0.0.1' },
      { kind: 'hostname', value: 'shop.test', ip: '127.0.0.1' },
    ];
    await grab([port], { timeout: '1500ms' }, { targets });
    server.close();
    expect(called).toEqual(['shop.test', `shop.test:${port}`]);
  });

  it('a server that refuses the handshake by an alert is a TLS server', async () => {
    const unrecognizedName = Buffer.from([0x15, 3, 3, 0, 2, 2, 112]);
    const banner = await grabOne((socket) => {
      socket.on('data', (bytes) => socket.end(bytes[0] === 0x16 ? unrecognizedName : ''));
    });
    expect(banner.tls_error).toBe(`${tlsRejection} unrecognized name`);
    expect(observedService(banner)).toBe('tls');
  });
});

describe('hostile services', () => {
  beforeAll(closeServers);
  afterEach(closeServers);

  it('silent ports cost one timeout each and leave no socket behind', async () => {
    // They read, so that they notice every way in which we may hang up.
    const ports = await Promise.all(Array.from({ length: 60 }, () => listen((socket) => socket.resume())));
    const counts = { host: '127.0.0.1', protocol: 'tcp', open: 60, closed: 940, filtered: 0, not_tried: 0 };
    const { result: banners, ms } = await inVirtualTime(() =>
      grab(
        ports,
        { timeout: '3s', concurrency: 30, retries: 0 },
        { port_counts: [{ ...counts, all_ports_open: false }] },
      ),
    );
    // Twice thirty at a time.
    expect(ms).toBeLessThan(8000);
    expect(banners).toHaveLength(60);
    expect(banners.every((banner) => banner.banner === '' && !banner.truncated)).toBe(true);
    await expect.poll(openConnections).toBe(0);
  });

  it('dripping bytes end at the absolute deadline', async () => {
    const { result: banner, ms } = await inVirtualTime(() =>
      grabOne((socket) => {
        const timer = setInterval(() => socket.write('a'), 300);
        socket.on('close', () => clearInterval(timer));
      }),
    );
    expect(banner.banner).toMatch(/^a+$/);
    expect(banner.truncated).toBe(true);
    expect(ms).toBeLessThan(2 * 400 + 400);
  });

  it('an endless line is cut at the cap', async () => {
    const block = Buffer.alloc(65_536, 'A');
    const flood = (socket: Socket) => {
      const pour = () => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on('drain', pour);
      pour();
    };
    const ports = await Promise.all(Array.from({ length: 20 }, () => listen(flood)));
    const before = process.memoryUsage().rss;
    const banners = await grab(ports);
    expect(banners).toHaveLength(20);
    for (const banner of banners) {
      expect(banner.banner).toHaveLength(65_536);
      expect(banner.truncated).toBe(true);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1024 * 1024);
    await expect.poll(openConnections).toBe(0);
  });

  it('endless HTTP headers stop at the header cap', async () => {
    const line = Buffer.from(`X-Long: ${'y'.repeat(1000)}\r\n`.repeat(50));
    const banner = await grabOne((socket) => {
      const pour = () => {
        while (!socket.destroyed && socket.write(line));
      };
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n');
        socket.on('drain', pour);
        pour();
      });
    });
    expect(banner).toMatchObject({ probe: 'http', truncated: true });
    expect(banner.banner).toHaveLength(65_536);
  });

  it.each([
    ['one-byte chunks with long extensions', `1;${'x'.repeat(8000)}\r\nz\r\n`],
    ['a negative size', '-5\r\nhello\r\n'],
    ['a size of 2^64', '10000000000000000\r\nhello\r\n'],
  ])('chunked torture: %s', async (_name, chunk) => {
    const { result: banner, ms } = await inVirtualTime(() =>
      grabOne((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nServer: trial\r\nTransfer-Encoding: chunked\r\n\r\n');
          const timer = setInterval(() => socket.write(chunk), 2);
          socket.on('close', () => clearInterval(timer));
        });
      }),
    );
    expect(banner.probe).toBe('http');
    expect(ms).toBeLessThan(1300);
  });

  it.each([
    ['garbage', (socket: Socket) => socket.end(Buffer.alloc(100, 0x7f))],
    ['plain HTTP', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')],
    ['an alert', (socket: Socket) => socket.end(Buffer.from('15030100020228', 'hex'))],
    ['a close', (socket: Socket) => socket.destroy()],
  ])('TLS nonsense: %s', async (_name, response) => {
    await listen((socket) => socket.once('data', () => response(socket)), '127.0.0.9', 8443);
    const { published } = await tryModule(banner_grabber, {
      config: { timeout: '400ms' },
      inputs: { open_ports: [open(8443, '127.0.0.9')] },
      targets: ['127.0.0.9'],
    });
    closeServers();
    const [banner] = published.get('banners') as Banner[];
    expect(banner?.tls).toBeUndefined();
    expect(banner?.tls_error).toMatch(/\w+/);
  });

  it('a reset in the middle keeps the bytes', async () => {
    const banner = await grabOne((socket) => {
      socket.write('x'.repeat(20));
      setTimeout(() => socket.resetAndDestroy(), 30);
    });
    expect(banner).toMatchObject({ banner: 'x'.repeat(20), partial: true, probe: 'null' });
  });

  /** A host with this many ports of one kind, and what a sweep of them says. */
  async function hostOf(count: number, serve: (socket: Socket) => void, more: Partial<PortCounts> = {}) {
    let connections = 0;
    const ports = await Promise.all(
      Array.from({ length: count }, () =>
        listen((socket) => {
          connections += 1;
          serve(socket);
        }, ownHost),
      ),
    );
    const counts = { open: count, closed: 0, filtered: 0, not_tried: 0, all_ports_open: count > 64 };
    const trial = () =>
      tryModule(banner_grabber, {
        config: { timeout: '400ms' },
        inputs: {
          open_ports: ports.map((port) => open(port, ownHost)),
          port_counts: [{ host: ownHost, protocol: 'tcp', ...counts, ...more }],
        },
        targets: [ownHost],
      });
    const { published, warnings } = (await inVirtualTime(trial)).result;
    const banners = (published.get('banners') ?? []) as Banner[];
    const marked = (reason: string) =>
      new Set(banners.flatMap((banner) => (banner.unidentified_reason === reason ? [banner.port] : [])));
    return { ports, banners, marked, warnings, connections, counts: published.get('port_counts') ?? [] };
  }

  it('reads every port of a host whose ports all speak, and revokes that it accepts whatever is asked', async () => {
    const greet = (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n');
    const { banners, marked, warnings, counts } = await hostOf(100, greet);
    expect(banners.filter(({ banner }) => banner.startsWith('SSH-2.0-OpenSSH'))).toHaveLength(100);
    expect([marked('tarpit').size, marked('unproven').size, warnings]).toEqual([0, 0, []]);
    expect(counts).toEqual([
      {
        host: ownHost,
        protocol: 'tcp',
        open: 100,
        closed: 0,
        filtered: 0,
        not_tried: 0,
        all_ports_open: false,
      },
    ]);
  });

  it('leaves out ports of a host that sends the same unknown bytes everywhere', async () => {
    const { banners, marked, connections, warnings } = await hostOf(100, (socket) => socket.end('hello\r\n'));
    expect(banners.filter(({ banner }) => banner === 'hello\r\n')).toHaveLength(66);
    expect([connections, marked('tarpit').size, marked('unproven').size]).toEqual([66, 34, 0]);
    expect(warnings).toEqual([
      `tarpit: ${ownHost} accepts connections without a service behind them: of its 100 open ports 65 showed no sign of life of their own, 34 were not probed`,
    ]);
  });

  it('marks the ports of a host that begins to accept everything in the middle of a scan', async () => {
    const closed = { closed: 300, all_ports_open: false };
    const { ports, banners, marked, warnings, counts } = await hostOf(
      90,
      (socket) => socket.resume(),
      closed,
    );
    expect([marked('unproven').size, marked('tarpit').size]).toEqual([64, 26]);
    expect(new Set([...marked('unproven'), ...marked('tarpit')])).toEqual(new Set(ports));
    expect(banners.every(({ banner }) => banner === '')).toBe(true);
    expect(counts).toMatchObject([{ open: 90, closed: 300, all_ports_open: true }]);
    expect(warnings).toEqual([
      `tarpit: ${ownHost} accepts connections without a service behind them: of its 90 open ports 64 showed no sign of life of their own, 26 were not probed`,
    ]);
  });

  it('marks all ports of a host that accepts a short list of ports and is silent', async () => {
    const { marked, counts } = await hostOf(20, (socket) => socket.resume());
    expect(marked('unproven').size).toBe(20);
    expect(counts).toMatchObject([{ open: 20, all_ports_open: true }]);
  });

  it('counts what the record has of a resumed scan', async () => {
    const numbers = Array.from({ length: 70 }, (_, at) => 20_001 + at);
    const counts = { open: 70, closed: 0, filtered: 0, not_tried: 0, all_ports_open: true };
    const resume = async (isIdentified: boolean) => {
      const { published, gate } = await tryModule(banner_grabber, {
        inputs: {
          open_ports: numbers.map((port) => open(port, ownHost)),
          port_counts: [{ host: ownHost, protocol: 'tcp', ...counts }],
        },
        targets: [ownHost],
        recorded: (key) => key === 'banners' || isIdentified,
      });
      expect(gate.packetsSent).toBe(0);
      return published;
    };
    expect((await resume(true)).get('port_counts')).toMatchObject([{ all_ports_open: false }]);
    const silent = await resume(false);
    expect(silent.get('port_counts')).toBeUndefined();
    const reasons = (silent.get('banners') as Banner[]).map((banner) => banner.unidentified_reason);
    expect(Map.groupBy(reasons, String).get('unproven')).toHaveLength(64);
  });

  it('marks nothing at a host with a few silent ports', async () => {
    const { banners, marked, warnings, counts } = await hostOf(6, (socket) => socket.resume());
    expect(banners).toHaveLength(6);
    expect([marked('unproven').size, warnings, counts]).toEqual([0, [], []]);
  });

  it('endless reply lines stop at 100', async () => {
    const banner = await grabOne((socket) => {
      const pour = () => {
        while (!socket.destroyed && socket.write('220-more of it ESMTP\r\n'.repeat(50)));
      };
      socket.on('drain', pour);
      pour();
    });
    expect(banner).toMatchObject({ probe: 'smtp', truncated: true });
    expect(banner.banner.split('\n').length).toBeLessThan(250);
  });

  it('a greeting split anywhere gives the same banner', async () => {
    const greeting = '220 mx.example ESMTP Trial\r\n';
    const ports = await Promise.all(
      Array.from({ length: greeting.length - 1 }, (_, at) =>
        listen((socket) => {
          socket.setNoDelay(true);
          socket.write(greeting.slice(0, at + 1));
          setTimeout(() => socket.write(greeting.slice(at + 1)), 5);
          socket.on('data', (bytes) => bytes.includes('EHLO') && socket.write('250 mx.example\r\n'));
        }),
      ),
    );
    const banners = await grab(ports);
    expect(new Set(banners.map((banner) => `${banner.probe} ${banner.banner}`))).toEqual(
      new Set([`smtp ${greeting}250 mx.example\r\n`]),
    );
  });
});
