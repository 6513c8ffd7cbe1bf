import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  constants,
  createDiffieHellmanGroup,
  generateKeyPairSync,
  privateDecrypt,
  X509Certificate,
} from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type Server, type TlsOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import { closeServers, listen, loopbackGate, tryModule } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import { type Banner, tlsRejection } from '../../domain/text/banner.ts';
import { certificateDer, privateKey as testKey } from '../../knowledge/protocols/test-certificate.ts';
import { parseTls } from '../../knowledge/protocols/tls.ts';
import { suiteNamed } from '../../knowledge/tls/suites.ts';
import banner_grabber from './banner_grabber.ts';
import { type OldServer, serveOldTls } from './fixtures/old-tls-server.ts';
import { enumerateTls } from './tls-enumeration.ts';

const folder = mkdtempSync(join(tmpdir(), `portolan-tls-${process.pid}-`));
const children = new Set<ChildProcess>();
const realServers = new Set<Server>();
const hasOpenssl = isInstalled('openssl');

beforeAll(() => {
  if (!hasOpenssl) return;
  makeCertificate('rsa', ['rsa:2048']);
  makeCertificate('short', ['rsa:1024'], ['-sha1']);
  makeCertificate('ec', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']);
});

// Not after each: many run at the same time, for they do little but wait.
afterAll(() => {
  closeServers();
  for (const child of children) child.kill('SIGKILL');
  for (const server of realServers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

function makeCertificate(name: string, key: string[], more: string[] = []): void {
  const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)];
  const subject = ['-nodes', '-days', '30', '-subj', `/CN=${name}.example`];
  execFileSync('openssl', ['req', '-x509', '-newkey', ...key, ...files, ...subject, ...more], {
    stdio: 'ignore',
  });
}

/** OpenSSL's own test server on a free port. */
async function serveOpenssl(certificate: string, ...options: string[]): Promise<number> {
  const files = ['-key', join(folder, `${certificate}.key`), '-cert', join(folder, `${certificate}.crt`)];
  const child = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', '-www', ...files, ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.add(child);
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`s_server ended: ${said}`)));
    child.stdout?.on('data', (bytes: Buffer) => {
      said += bytes.toString();
      const port = /ACCEPT 127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (port) resolve(Number(port));
    });
  });
}

async function grab(port: number, config: Record<string, unknown> = {}, host = '127.0.0.1'): Promise<Banner> {
  const open = { host, port, protocol: 'tcp', state: 'open', reason: 'syn-ack' };
  const { published } = await tryModule(banner_grabber, {
    config: { timeout: '1s', retries: 0, tls_enumerate: true, ...config },
    inputs: { open_ports: [open] },
    targets: [host],
  });
  return (published.get('banners') as Banner[])[0] as Banner;
}

/** What the banner of a port says in the words of the parser. */
async function factsOf(port: number, config: Record<string, unknown> = {}) {
  const { tls } = await grab(port, config);
  if (!tls) throw new Error('no TLS was found');
  return parseTls(tls).facts;
}

const suitesIn = (facts: Awaited<ReturnType<typeof factsOf>>, version: string) =>
  facts.accepted?.find((each) => each.version === version)?.suites;

const idOf = (name: string) => suiteNamed(name)?.id ?? 0;

describe.skipIf(!hasOpenssl)('servers of OpenSSL', { concurrent: true }, () => {
  it('finds every suite of every version, as OpenSSL lists them', async () => {
    const everything = 'ALL:COMPLEMENTOFALL:!PSK:!SRP:!GOST:!aECDSA:!aDSS:@SECLEVEL=0';
    const facts = await factsOf(await serveOpenssl('rsa', '-cipher', everything));
    expect(facts.versions).toEqual(['TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3']);
    expect(facts).toMatchObject({ survey: 'complete', secure_renegotiation: true, fallback_scsv: true });
    const listed = execFileSync('openssl', ['ciphers', '-stdname', '-tls1_2', '-s', everything])
      .toString()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('TLS_AES') && !line.startsWith('TLS_CHACHA20'))
      .map((line) => line.split(' ')[0]);
    expect(new Set(suitesIn(facts, 'TLSv1.2'))).toEqual(new Set(listed));
    expect(suitesIn(facts, 'TLSv1.3')).toHaveLength(3);
    expect(facts.groups).toContain('x25519');
  });

  it('one version with one suite costs few handshakes', async () => {
    const port = await serveOpenssl('short', '-tls1', '-cipher', 'AES128-SHA:@SECLEVEL=0');
    const { tls } = await grab(port);
    expect(tls?.survey?.accepted).toEqual([
      { version: 'TLSv1.0', suites: ['TLS_RSA_WITH_AES_128_CBC_SHA'], order: null },
    ]);
    expect(tls?.survey?.handshakes).toBeLessThan(16);
  });

  it.each([
    ['server', ['-serverpref']],
    ['client', []],
  ])('tells that the %s decides between suites', async (order, options) => {
    const suites = 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384';
    const facts = await factsOf(await serveOpenssl('rsa', '-tls1_2', '-cipher', suites, ...options));
    expect(facts.accepted).toMatchObject([{ version: 'TLSv1.2', order }]);
  });

  it('finds the groups of TLS 1.2 and 1.3 and the protocols inside', async () => {
    const options = ['-groups', 'P-384:X25519:P-521', '-alpn', 'h2,http/1.1'];
    const facts = await factsOf(await serveOpenssl('rsa', ...options));
    expect(new Set(facts.groups)).toEqual(new Set(['secp384r1', 'x25519', 'secp521r1']));
    expect(new Set(facts.alpn_protocols)).toEqual(new Set(['h2', 'http/1.1']));
  });

  it('finds the curves of a server that has an ECDSA certificate alone', async () => {
    const facts = await factsOf(await serveOpenssl('ec', '-tls1_2', '-groups', 'P-256:X25519:P-521'));
    expect(new Set(facts.groups)).toEqual(new Set(['secp256r1', 'x25519', 'secp521r1']));
  });

  it('sees the certificate for the other kind of key too', async () => {
    const second = ['-dcert', join(folder, 'ec.crt'), '-dkey', join(folder, 'ec.key')];
    const facts = await factsOf(await serveOpenssl('short', ...second, '-cipher', 'DEFAULT:@SECLEVEL=0'));
    const keys = [facts.certificate, ...(facts.other_certificates ?? [])].map((each) =>
      each && 'key' in each ? each.key : null,
    );
    expect(new Set(keys)).toEqual(new Set(['RSA 1024', 'EC 256']));
  });
});

describe.skipIf(!hasOpenssl)('how servers behave', { concurrent: true }, () => {
  it('says how OpenSSL behaves where everything is on', async () => {
    const facts = await factsOf(await serveOpenssl('rsa', '-client_renegotiation', '-alpn', 'h2'));
    expect(facts).toMatchObject({
      downgrade_mark: true,
      heartbeat: false,
      ocsp_stapling: false,
      session_resumption: true,
      client_renegotiation: true,
      heartbleed_bytes: null,
      early_cipher_change: null,
      ticketbleed_bytes: null,
      padding_reactions: null,
      ticket_lifetime: 7200,
      early_data: 0,
    });
    expect(facts.hello_prints).toEqual([
      expect.stringMatching(/^sh1\.13\.2\.-\.1301\.[0-9a-f]{16}$/),
      expect.stringMatching(/^sh1\.12\.5\.h2\.c02f\.[0-9a-f]{16}$/),
    ]);
  });

  it('and where it is off', async () => {
    const options = ['-no_renegotiation', '-no_ticket', '-no_cache', '-tls1_2'];
    const facts = await factsOf(await serveOpenssl('rsa', ...options), { intrusive: true });
    expect(facts).toMatchObject({
      downgrade_mark: null,
      session_resumption: false,
      client_renegotiation: false,
      early_cipher_change: false,
      ticketbleed_bytes: null,
      padding_reactions: [],
      ticket_lifetime: null,
      early_data: null,
    });
    expect(facts.hello_prints).toHaveLength(1);
  });

  it('tickets of TLS 1.2 are repeated as they were sent, and data may come early where that is on', async () => {
    const facts = await factsOf(await serveOpenssl('rsa', '-max_early_data', '4096'), {
      intrusive: true,
    });
    expect(facts).toMatchObject({ ticketbleed_bytes: 0, early_cipher_change: false, early_data: 4096 });
  });

  it('a stapled status of the certificate', async () => {
    const port = await serveOpenssl('rsa', '-status_file', stapledResponse());
    expect(await factsOf(port)).toMatchObject({ ocsp_stapling: true });
  });

  it('a server that does not know the protocols of the question has a print all the same', async () => {
    const { hello_prints: prints } = await factsOf(await serveOpenssl('rsa', '-alpn', 'imap', '-tls1_2'));
    expect(prints).toEqual([expect.stringMatching(/^sh1\.12\.\d\.[-!]\.c02f\.[0-9a-f]{16}$/)]);
  });
});

/** A response about the certificate by itself; a server sends whatever it is told to. */
function stapledResponse(): string {
  const [key, cert] = ['rsa.key', 'rsa.crt'].map((file) => join(folder, file)) as [string, string];
  const [index, request, response] = ['index.txt', 'ocsp.req', 'ocsp.der'].map((file) =>
    join(folder, file),
  ) as [string, string, string];
  writeFileSync(index, '');
  execFileSync('openssl', ['ocsp', '-issuer', cert, '-cert', cert, '-reqout', request], { stdio: 'ignore' });
  const signer = ['-index', index, '-CA', cert, '-rsigner', cert, '-rkey', key, '-ndays', '7'];
  execFileSync('openssl', ['ocsp', ...signer, '-reqin', request, '-respout', response], { stdio: 'ignore' });
  return response;
}

/** Parameters of the second MODP group (RFC 2409, 6.2), as PEM. */
function prime1024(): string {
  const prime = createDiffieHellmanGroup('modp2').getPrime();
  const numbers = Buffer.concat([Buffer.from([2, 0x81, prime.length + 1, 0]), prime, Buffer.from([2, 1, 2])]);
  const der = Buffer.concat([Buffer.from([0x30, 0x81, numbers.length]), numbers]);
  return `-----BEGIN DH PARAMETERS-----\n${der.toString('base64')}\n-----END DH PARAMETERS-----\n`;
}

describe.skipIf(!hasOpenssl)('servers of Node.js', { concurrent: true }, () => {
  const hybrids = Number(process.versions.openssl.split('.').slice(0, 2).join('.')) >= 3.5;

  async function factsOfNode(options: TlsOptions) {
    const [key, cert] = ['rsa.key', 'rsa.crt'].map((file) => readFileSync(join(folder, file)));
    const server = createTlsServer({ key, cert, ...options });
    server.on('tlsClientError', () => undefined);
    server.on('secureConnection', (socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      return await factsOf((server.address() as AddressInfo).port);
    } finally {
      server.close();
    }
  }

  it('measures the prime of a Diffie-Hellman exchange', async () => {
    const ciphers = 'DHE-RSA-AES128-SHA:@SECLEVEL=0';
    const facts = await factsOfNode({
      ciphers,
      dhparam: prime1024(),
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
    });
    expect(facts).toMatchObject({ versions: ['TLSv1.0', 'TLSv1.1'], dh_bits: 1024, fallback_scsv: true });
  });

  it('finds the protocols inside of a server that speaks TLS 1.3 alone', async () => {
    const facts = await factsOfNode({ minVersion: 'TLSv1.3', ALPNProtocols: ['http/1.1', 'h2'] });
    expect(facts).toMatchObject({ versions: ['TLSv1.3'], alpn_protocols: ['http/1.1', 'h2'] });
    expect(facts).toMatchObject({ session_resumption: true, client_renegotiation: null });
  });

  it.skipIf(!hybrids)('finds post-quantum groups', async () => {
    const facts = await factsOfNode({ ecdhCurve: 'X25519MLKEM768:X25519', minVersion: 'TLSv1.3' });
    expect(facts.versions).toEqual(['TLSv1.3']);
    expect(facts.groups).toEqual(['X25519MLKEM768', 'x25519']);
  });
});

describe('servers that modern libraries refuse', { concurrent: true }, () => {
  const old: OldServer = {
    versions: [0x0300, 0x0301],
    suites: [
      'TLS_RSA_WITH_RC4_128_MD5',
      'TLS_RSA_EXPORT_WITH_DES40_CBC_SHA',
      'TLS_DHE_RSA_EXPORT_WITH_DES40_CBC_SHA',
      'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
    ].map(idOf),
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
    expect(suitesIn(facts, 'SSLv3')?.map(idOf)).toEqual(expect.arrayContaining([...old.suites]));
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
    expect(upgrades).toBe(1 + (banner.tls?.survey?.handshakes ?? 0));
  });
});

describe('flaws that are tried where that is allowed', { concurrent: true }, () => {
  const rsaSuites = ['TLS_RSA_WITH_AES_128_CBC_SHA', 'TLS_RSA_WITH_AES_256_CBC_SHA'].map(idOf);
  const certificate = certificateDer({ commonName: 'old.example' });
  const old: OldServer = { versions: [0x0301, 0x0303], suites: rsaSuites, certificate, extensions: [15] };

  const traitsOf = async (server: OldServer, intrusive = true) =>
    (await grab(await listen(serveOldTls(server)), { intrusive })).tls?.survey?.traits;

  it('a server that answers a heartbeat without content gives memory away', async () => {
    const traits = await traitsOf({ ...old, heartbeat: 'leaks' });
    expect(traits).toMatchObject({ heartbeat: true, heartbleed_bytes: 16 });
    expect(JSON.stringify(traits)).not.toContain('secret');
  });

  it('a server that passes it over in silence does not, and one without the extension is not asked', async () => {
    expect(await traitsOf({ ...old, heartbeat: 'silent' })).toMatchObject({ heartbleed_bytes: 0 });
    const asked = await traitsOf({ ...old, extensions: [], heartbeat: 'leaks' });
    expect(asked).toMatchObject({ heartbeat: false, heartbleed_bytes: null });
  });

  it('nothing is tried without leave', async () => {
    const traits = await traitsOf({ ...old, heartbeat: 'leaks', judgeSecret: () => 20 }, false);
    expect(traits).toMatchObject({ heartbeat: true, heartbleed_bytes: null, padding_reactions: null });
  });

  it.each([
    ['refuses', false],
    ['obeys', true],
    ['ignores', null],
  ] as const)('a server that %s a change of cipher before its turn', async (earlyCipherChange, obeyed) => {
    expect(await traitsOf({ ...old, earlyCipherChange })).toMatchObject({ early_cipher_change: obeyed });
    expect(await traitsOf({ ...old, earlyCipherChange }, false)).toMatchObject({ early_cipher_change: null });
  });

  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const known = certificateDer({
    commonName: 'robot.example',
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
  });
  const padded = (encrypted: Buffer) =>
    privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, encrypted);

  it('a server that tells right paddings from wrong ones is an oracle', async () => {
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

  it('a server that answers now so, now otherwise is none', async () => {
    let count = 0;
    const judgeSecret = () => [20, 51, 40][count++ % 3] as number;
    expect(await traitsOf({ ...old, certificate: known, judgeSecret })).toMatchObject({
      padding_reactions: null,
    });
  });

  it('a server without an exchange by RSA is not asked', async () => {
    const suites = [idOf('TLS_DHE_RSA_WITH_AES_128_CBC_SHA')];
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

  it('a plain web server is not asked again', async () => {
    let connections = 0;
    const serve = (socket: Socket) => {
      connections += 1;
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    };
    // No other test scans it.
    const host = '127.86.0.5';
    const plain = await grab(await listen(serve, host), { tls_enumerate: false }, host);
    const before = connections;
    const surveyed = await grab(await listen(serve, host), {}, host);
    expect(connections).toBe(2 * before);
    expect(plain.tls).toBe(surveyed.tls);
  });

  /** The survey alone, over connections of the gate. */
  async function survey(port: number, timeoutMs: number) {
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

  it('T-002 T-008 a server that falls silent or drips is left alone after a few tries', async () => {
    const ports = [
      await listen(() => undefined),
      await listen((socket) => {
        const timer = setInterval(() => socket.write('\x16'), 50);
        socket.on('close', () => clearInterval(timer));
      }),
    ];
    for (const [at, port] of ports.entries()) {
      const { result, ms } = await inVirtualTime(() => survey(port, 100));
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
    const outcome = await survey(port, 300);
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
