import { constants, generateKeyPairSync, privateDecrypt, X509Certificate } from 'node:crypto';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { closeServers, listen, loopbackGate } from '../../../test/module-trial.ts';
import { grabTls, suiteIdOf, suitesIn } from '../../../test/tls-facts.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import { type Banner, tlsRejection } from '../../domain/text/banner.ts';
import { certificateDer, privateKey as testKey } from '../../knowledge/protocols/test-certificate.ts';
import { parseTls } from '../../knowledge/protocols/tls.ts';
import { type OldServer, serveOldTls } from './fixtures/old-tls-server.ts';
import { enumerateTls } from './tls-enumeration.ts';

const realServers = new Set<Server>();

afterEach(() => {
  closeServers();
  for (const server of realServers) server.close();
  realServers.clear();
});

/** What is found by a clock that does not wait: all servers are in this process. */
const grab = async (...input: Parameters<typeof grabTls>) =>
  (await inVirtualTime(() => grabTls(...input))).result;

describe('servers that modern libraries refuse', () => {
  const old: OldServer = {
    versions: [0x0300, 0x0301],
    suites: [
      'TLS_RSA_WITH_RC4_128_MD5',
      'TLS_RSA_EXPORT_WITH_DES40_CBC_SHA',
      'TLS_DHE_RSA_EXPORT_WITH_DES40_CBC_SHA',
      'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
    ].map(suiteIdOf),
    certificate: certificateDer({ commonName: 'old.example' }),
    dhBits: 512,
    compression: true,
  };

  it('finds SSL 3.0 with RC4 and export suites, and the certificate', async () => {
    const banner = await grab(await listen(serveOldTls(old)));
    expect(banner.tls_error).toBeUndefined();
    const { facts } = parseTls(banner.tls as NonNullable<Banner['tls']>);
    expect(facts).toMatchObject({
      version: 'TLSv1.0',
      versions: ['SSLv3', 'TLSv1.0'],
      certificate: { subject: 'CN=old.example' },
      dh_bits: 512,
      export_rsa_bits: 512,
      compression: true,
      secure_renegotiation: false,
      extended_master_secret: false,
      session_tickets: false,
      fallback_scsv: false,
      survey: 'complete',
    });
    expect(suitesIn(facts, 'SSLv3')?.map(suiteIdOf)).toEqual(expect.arrayContaining([...old.suites]));
    expect(facts.accepted?.map(({ order }) => order)).toEqual(['server', 'server']);
  });

  it('a server that speaks SSL 3.0 alone', async () => {
    const { tls } = await grab(await listen(serveOldTls({ ...old, versions: [0x0300] })));
    expect(tls).toMatchObject({
      version: 'SSLv3',
      survey: { extended_master_secret: null, fallback_scsv: null },
    });
  });

  it('a server that closes the connection where others send an alert', async () => {
    const { tls } = await grab(await listen(serveOldTls({ ...old, closes: 'always' })));
    expect(tls?.survey?.accepted.map(({ version, suites }) => `${version} ${suites.length}`)).toEqual([
      'SSLv3 4',
      'TLSv1.0 4',
    ]);
  });

  it('a server that closes the connection to who came down has noticed it', async () => {
    const { tls } = await grab(await listen(serveOldTls({ ...old, closesFallback: true })));
    expect(tls?.survey?.fallback_scsv).toBe(true);
  });

  it('a server that cannot bear extensions', async () => {
    const { tls } = await grab(await listen(serveOldTls({ ...old, versions: [0x0301], closes: 'extended' })));
    expect(tls?.survey?.accepted).toMatchObject([{ version: 'TLSv1.0' }]);
    expect(tls?.survey?.accepted[0]?.suites).toHaveLength(4);
  });

  it('SSL 2.0', async () => {
    const { tls } = await grab(await listen(serveOldTls({ ...old, ssl2: true })));
    expect(tls?.survey?.accepted[0]).toEqual({
      version: 'SSLv2',
      suites: ['SSL2_RC4_128_WITH_MD5', 'SSL2_DES_64_CBC_WITH_MD5'],
      order: null,
    });
  });

  it('STARTTLS, once for each handshake', async () => {
    const speakTls = serveOldTls({ ...old, versions: [0x0300] });
    let upgrades = 0;
    const port = await listen((socket) => {
      socket.write('220 mail.example ESMTP Postfix\r\n');
      const onData = (bytes: Buffer) => {
        const line = bytes.toString('latin1');
        if (line.startsWith('EHLO')) socket.write('250-mail.example\r\n250 STARTTLS\r\n');
        else if (line.startsWith('STARTTLS')) {
          upgrades += 1;
          socket.off('data', onData);
          speakTls(socket);
          socket.write('220 go ahead\r\n');
        } else socket.end('221 bye\r\n');
      };
      socket.on('data', onData);
    });
    const banner = await grab(port);
    expect(banner).toMatchObject({ probe: 'smtp', tls: { version: 'SSLv3' } });
    // The ordinary one, and one that reads what the server shows before it ends that.
    expect(upgrades).toBe(2 + (banner.tls?.survey?.handshakes ?? 0));
  });
});

describe('flaws that are tried where that is allowed', () => {
  const rsaSuites = ['TLS_RSA_WITH_AES_128_CBC_SHA', 'TLS_RSA_WITH_AES_256_CBC_SHA'].map(suiteIdOf);
  const certificate = certificateDer({ commonName: 'old.example' });
  const old: OldServer = { versions: [0x0301, 0x0303], suites: rsaSuites, certificate, extensions: [15] };

  const traitsOf = async (server: OldServer, intrusive = true) =>
    (await grab(await listen(serveOldTls(server)), { intrusive })).tls?.survey?.traits;

  it('reports a server that leaks memory in response to an empty heartbeat', async () => {
    const traits = await traitsOf({ ...old, heartbeat: 'leaks' });
    expect(traits).toMatchObject({ heartbeat: true, heartbleed_bytes: 16 });
    expect(JSON.stringify(traits)).not.toContain('secret');
  });

  it('clears a server that ignores it and sends none to a server without the extension', async () => {
    expect(await traitsOf({ ...old, heartbeat: 'silent' })).toMatchObject({ heartbleed_bytes: 0 });
    const traits = await traitsOf({ ...old, extensions: [], heartbeat: 'leaks' });
    expect(traits).toMatchObject({ heartbeat: false, heartbleed_bytes: null });
  });

  it('nothing is tried without leave', async () => {
    const traits = await traitsOf({ ...old, heartbeat: 'leaks', judgeSecret: () => 20 }, false);
    expect(traits).toMatchObject({ heartbeat: true, heartbleed_bytes: null, padding_reactions: null });
  });

  it.each([
    ['refuses', false],
    ['obeys', true],
    ['ignores', null],
  ] as const)('a server that %s a change of cipher before its turn', async (earlyCipherChange, applied) => {
    const port = await listen(serveOldTls({ ...old, earlyCipherChange }));
    // Both changes are writes of their own.
    const { result } = await inVirtualTime(() => grabTls(port, { intrusive: true }), 10, 1);
    expect(result.tls?.survey?.traits).toMatchObject({ early_cipher_change: applied });
    expect(await traitsOf({ ...old, earlyCipherChange }, false)).toMatchObject({ early_cipher_change: null });
  });

  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const known = certificateDer({
    commonName: 'robot.example',
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
  });
  const padded = (encrypted: Buffer) =>
    privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, encrypted);

  it('reports a server that distinguishes valid from invalid padding as an oracle', async () => {
    const judgeSecret = (encrypted: Buffer) => (padded(encrypted).readUInt16BE(0) === 2 ? 20 : 51);
    const traits = await traitsOf({ ...old, certificate: known, judgeSecret });
    expect(traits?.padding_reactions).toEqual([
      'none: alert 20, open',
      'start: alert 51, open',
      'no-end: alert 20, open',
      'early-end: alert 20, open',
      'version: alert 20, open',
    ]);
  });

  it('every form is what it says', async () => {
    const seen: string[] = [];
    const judgeSecret = (encrypted: Buffer) => {
      const block = padded(encrypted);
      const end = block.indexOf(0, 2);
      const secret = end === -1 ? null : block.subarray(end + 1);
      const version = secret?.length === 48 ? ` ${secret.toString('hex', 0, 2)}` : '';
      seen.push(`${block.toString('hex', 0, 2)} ${secret?.length ?? 'none'} ${block.length}${version}`);
      return 20;
    };
    const traits = await traitsOf({ ...old, certificate: known, judgeSecret });
    expect(traits?.padding_reactions).toEqual([]);
    expect(seen.slice(-5)).toEqual([
      '0002 48 256 0303',
      '0117 48 256 0303',
      '0002 none 256',
      '0002 1 256',
      '0002 48 256 0202',
    ]);
  });

  /** A server whose handshakes are real; what comes back to a hello with a name for a session is scripted. */
  async function serveTickets(repeat: (name: Buffer) => Buffer): Promise<number> {
    const tls = createTlsServer({
      key: testKey().export({ type: 'pkcs8', format: 'pem' }),
      cert: new X509Certificate(certificateDer({ commonName: 'tickets.example', signed: true })).toString(),
      maxVersion: 'TLSv1.2',
    });
    tls.on('tlsClientError', () => undefined);
    tls.on('secureConnection', (socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    realServers.add(tls);
    return listen((socket) => {
      socket.once('data', (hello: Buffer) => {
        const name = hello.subarray(44, 44 + (hello[43] as number));
        if (name.length !== 16 || hello[0] !== 22) {
          const real = connect((tls.address() as AddressInfo).port, '127.0.0.1', () => real.write(hello));
          for (const [from, to] of [
            [socket, real],
            [real, socket],
          ] as const) {
            from.on('error', () => to.destroy());
            from.on('close', () => to.destroy());
            from.pipe(to);
          }
          return;
        }
        const repeated = repeat(name);
        const body = Buffer.concat([
          Buffer.from([3, 3]),
          Buffer.alloc(32, 1),
          Buffer.from([repeated.length]),
          repeated,
          Buffer.from([0xc0, 0x2b, 0, 0, 0]),
        ]);
        const head = Buffer.from([22, 3, 3, 0, body.length + 4, 2, 0, 0, body.length]);
        socket.write(Buffer.concat([head, body, Buffer.from([20, 3, 3, 0, 1, 1])]));
      });
    });
  }

  it.each([
    ['with memory behind it', (name: Buffer) => Buffer.concat([name, Buffer.alloc(16, 'private')]), 16],
    ['as it was', (name: Buffer) => name, 0],
    ['as another one', () => Buffer.alloc(32, 5), null],
  ] as const)('a server that repeats the name of a session %s', async (_how, repeat, leaked) => {
    const { tls } = await grab(await serveTickets(repeat), { intrusive: true });
    expect(tls?.survey?.traits?.ticketbleed_bytes).toBe(leaked);
    expect(JSON.stringify(tls?.survey)).not.toContain('private');
  });

  it('a server with inconsistent responses is not an oracle', async () => {
    let count = 0;
    const judgeSecret = () => [20, 51, 40][count++ % 3] as number;
    expect(await traitsOf({ ...old, certificate: known, judgeSecret })).toMatchObject({
      padding_reactions: null,
    });
  });

  it('skips a server without RSA key exchange', async () => {
    const suites = [suiteIdOf('TLS_DHE_RSA_WITH_AES_128_CBC_SHA')];
    expect(await traitsOf({ ...old, suites, judgeSecret: () => 20 })).toMatchObject({
      padding_reactions: null,
    });
  });
});

describe('servers that are none', () => {
  const refuse = (socket: Socket) => {
    socket.on('data', (bytes) =>
      socket.end(bytes[0] === 0x16 ? Buffer.from([0x15, 3, 3, 0, 2, 2, 112]) : ''),
    );
  };

  it('a refusal in every version leaves what was known', async () => {
    const banner = await grab(await listen(refuse));
    expect(banner.tls).toBeUndefined();
    expect(banner.tls_error).toContain(tlsRejection);
  });

  it('sends a plain web server no further handshake', async () => {
    let connections = 0;
    const serve = (socket: Socket) => {
      connections += 1;
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    };
    // No other test scans it.
    const host = '127.86.0.5';
    const plain = await grab(await listen(serve, host), { tls_enumerate: false }, host);
    const before = connections;
    const enumerated = await grab(await listen(serve, host), {}, host);
    expect(connections).toBe(2 * before);
    expect(plain.tls).toBe(enumerated.tls);
  });

  /** The enumeration alone, over connections of the gate. */
  async function enumerate(port: number, timeoutMs: number) {
    const gate = loopbackGate(['127.0.0.1']);
    const { signal } = new AbortController();
    return await enumerateTls({
      async open() {
        const result = await gate.connect('127.0.0.1', port, {
          deadlineMs: 2 * timeoutMs,
          maxBytes: 65_536,
          signal,
        });
        return 'failure' in result ? null : result.connection;
      },
      serverName: null,
      timeoutMs,
      signal,
      leaf: null,
      intrusive: false,
    });
  }

  it('a server that falls silent or drips is left alone after a few tries', async () => {
    const ports = [
      await listen(() => undefined),
      await listen((socket) => {
        const timer = setInterval(() => socket.write('\x16'), 50);
        socket.on('close', () => clearInterval(timer));
      }),
    ];
    for (const [at, port] of ports.entries()) {
      const { result, ms } = await inVirtualTime(() => enumerate(port, 100));
      expect(result).toBeNull();
      expect(ms).toBeLessThan(at === 0 ? 2000 : 3000);
    }
  });

  it('a server that always has one more suite ends at the budget', async () => {
    const port = await listen((socket) => {
      socket.once('data', (hello: Buffer) => {
        const first = hello.readUInt16BE(9 + 35 + (hello[43] as number) + 2);
        const version = hello.readUInt16BE(9);
        const body = Buffer.concat([Buffer.alloc(35), Buffer.alloc(3)]);
        body.writeUInt16BE(version, 0);
        body.writeUInt16BE(first, 35);
        socket.write(
          Buffer.concat([
            Buffer.from([22, 3, 1, 0, body.length + 4 + 4, 2, 0, 0, body.length]),
            body,
            Buffer.from([14, 0, 0, 0]),
          ]),
        );
      });
    });
    const outcome = await enumerate(port, 300);
    expect(outcome?.survey).toMatchObject({ handshakes: 250, complete: false });
  });
});

it('no connection stays open', async () => {
  const sockets = new Set<Socket>();
  const speak = serveOldTls({ versions: [0x0301], suites: [0x000a] });
  const port = await listen((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    speak(socket);
  });
  await grab(port);
  // A connection after all others: what was reset before it has arrived by then.
  await new Promise<void>((resolve) => {
    const last = connect(port, '127.0.0.1', () => {
      last.destroy();
      setTimeout(resolve, 100);
    });
  });
  expect(sockets.size).toBe(0);
});
