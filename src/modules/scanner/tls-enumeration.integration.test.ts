import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createDiffieHellmanGroup } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import { grabTls, suitesIn, tlsFactsOf } from '../../../test/tls-facts.ts';

const folder = mkdtempSync(join(tmpdir(), `portolan-tls-${process.pid}-`));
const children = new Set<ChildProcess>();
const hasOpenssl = isInstalled('openssl');

beforeAll(() => {
  if (!hasOpenssl) return;
  makeCertificate('rsa', ['rsa:2048']);
  makeCertificate('short', ['rsa:1024'], ['-sha1']);
  makeCertificate('ec', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']);
});

// Not after each: many run at the same time, for they do little but wait.
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
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

/** For servers that always respond: a busy machine is slow, not wrong. */
const long = { timeout: '15s' };

describe.skipIf(!hasOpenssl)('servers of OpenSSL', { concurrent: true }, () => {
  it('finds every suite of every version, as OpenSSL lists them', async () => {
    const everything = 'ALL:COMPLEMENTOFALL:!PSK:!SRP:!GOST:!aECDSA:!aDSS:@SECLEVEL=0';
    const facts = await tlsFactsOf(await serveOpenssl('rsa', '-cipher', everything), long);
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
    const { tls } = await grabTls(port, long);
    expect(tls?.survey?.accepted).toEqual([
      { version: 'TLSv1.0', suites: ['TLS_RSA_WITH_AES_128_CBC_SHA'], order: null },
    ]);
    expect(tls?.survey?.handshakes).toBeLessThan(16);
  });

  it.each([
    ['server', ['-serverpref']],
    ['client', []],
  ])('reports that the %s decides between suites', async (order, options) => {
    const suites = 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384';
    const facts = await tlsFactsOf(await serveOpenssl('rsa', '-tls1_2', '-cipher', suites, ...options), long);
    expect(facts.accepted).toMatchObject([{ version: 'TLSv1.2', order }]);
  });

  it('finds the groups of TLS 1.2 and 1.3 and the protocols inside', async () => {
    const options = ['-groups', 'P-384:X25519:P-521', '-alpn', 'h2,http/1.1'];
    const facts = await tlsFactsOf(await serveOpenssl('rsa', ...options), long);
    expect(new Set(facts.groups)).toEqual(new Set(['secp384r1', 'x25519', 'secp521r1']));
    expect(new Set(facts.alpn_protocols)).toEqual(new Set(['h2', 'http/1.1']));
  });

  it('finds the curves of a server that has an ECDSA certificate alone', async () => {
    const facts = await tlsFactsOf(
      await serveOpenssl('ec', '-tls1_2', '-groups', 'P-256:X25519:P-521'),
      long,
    );
    expect(new Set(facts.groups)).toEqual(new Set(['secp256r1', 'x25519', 'secp521r1']));
  });

  it('sees the certificate for the other kind of key too', async () => {
    const second = ['-dcert', join(folder, 'ec.crt'), '-dkey', join(folder, 'ec.key')];
    const facts = await tlsFactsOf(
      await serveOpenssl('short', ...second, '-cipher', 'DEFAULT:@SECLEVEL=0'),
      long,
    );
    const keys = [facts.certificate, ...(facts.other_certificates ?? [])].map((each) =>
      each && 'key' in each ? each.key : null,
    );
    expect(new Set(keys)).toEqual(new Set(['RSA 1024', 'EC 256']));
  });
});

describe.skipIf(!hasOpenssl)('how servers behave', { concurrent: true }, () => {
  it('says how OpenSSL behaves where everything is on', async () => {
    const facts = await tlsFactsOf(await serveOpenssl('rsa', '-client_renegotiation', '-alpn', 'h2'));
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
    const facts = await tlsFactsOf(await serveOpenssl('rsa', ...options), { intrusive: true });
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
    const facts = await tlsFactsOf(await serveOpenssl('rsa', '-max_early_data', '4096'), {
      intrusive: true,
    });
    expect(facts).toMatchObject({ ticketbleed_bytes: 0, early_cipher_change: false, early_data: 4096 });
  });

  it('a stapled status of the certificate', async () => {
    const port = await serveOpenssl('rsa', '-status_file', stapledResponse());
    expect(await tlsFactsOf(port)).toMatchObject({ ocsp_stapling: true });
  });

  it('fingerprints a server that does not know the offered protocols', async () => {
    const { hello_prints: prints } = await tlsFactsOf(await serveOpenssl('rsa', '-alpn', 'imap', '-tls1_2'));
    expect(prints).toEqual([expect.stringMatching(/^sh1\.12\.\d\.[-!]\.c02f\.[0-9a-f]{16}$/)]);
  });
});

/** A response about the certificate by itself; the server sends any bytes. */
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
      return await tlsFactsOf((server.address() as AddressInfo).port);
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
