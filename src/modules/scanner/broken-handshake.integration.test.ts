import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, createServer, type Server, TLSSocket, type TlsOptions } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { closeServers, listen } from '../../../test/module-trial.ts';
import { grabTls, suiteIdOf } from '../../../test/tls-facts.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import { tlsRejection } from '../../domain/text/banner.ts';
import { certificateDer, privateKey } from '../../knowledge/protocols/test-certificate.ts';
import { observedService } from '../../knowledge/rules/claims.ts';
import { type OldServer, serveOldTls } from './fixtures/old-tls-server.ts';

const realServers = new Set<Server>();

afterEach(() => {
  closeServers();
  for (const server of realServers) server.close();
  realServers.clear();
});

const certificate = certificateDer({ commonName: 'c.example', signed: true });
/** For suites with RSA. */
const rsaCertificate = certificateDer({
  commonName: 'c.example',
  publicKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
    type: 'spki',
    format: 'der',
  }),
});

/** All servers are in this process. */
const grab = async (port: number) =>
  (await inVirtualTime(() => grabTls(port, { tls_enumerate: false }))).result;

const serverKey = () => ({
  key: privateKey().export({ type: 'pkcs8', format: 'pem' }),
  cert: new X509Certificate(certificate).toString(),
});

async function serve(options: TlsOptions): Promise<number> {
  const server = createServer({ ...serverKey(), ...options });
  server.on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  realServers.add(server);
  return (server.address() as AddressInfo).port;
}

const shown = { chain: [certificate.toString('base64')], client_certificate: 'required' };

describe('servers that require a client certificate', () => {
  it.each(['TLSv1', 'TLSv1.2'] as const)(
    'keeps the certificate that a server up to %s shows before it rejects the handshake',
    async (maxVersion) => {
      const port = await serve({
        requestCert: true,
        minVersion: 'TLSv1',
        maxVersion,
        ciphers: 'ALL:@SECLEVEL=0',
      });
      const banner = await grab(port);
      const version = maxVersion === 'TLSv1' ? 'TLSv1.0' : maxVersion;
      expect(banner.tls).toMatchObject({ ...shown, version, cipher: expect.stringMatching(/^TLS_ECDHE_/) });
      expect(banner.tls?.error).toContain(tlsRejection);
      expect(banner.tls_error).toBeUndefined();
    },
  );

  it('reads the alert that TLS 1.3 sends after the handshake', async () => {
    const banner = await grab(await serve({ requestCert: true, minVersion: 'TLSv1.3' }));
    expect(banner.tls).toMatchObject({
      ...shown,
      version: 'TLSv1.3',
      error: `${tlsRejection} certificate required`,
    });
  });

  const old: OldServer = {
    versions: [0x0303],
    suites: [suiteIdOf('TLS_RSA_WITH_AES_128_CBC_SHA')],
    certificate: rsaCertificate,
  };

  it.each([
    ['the alert bad certificate', 42, 'bad certificate'],
    ['the alert access denied', 49, 'access denied'],
    ['a close', 'closes', 'closed the connection during the handshake, after'],
    ['silence', 'ignores', 'before the deadline, after'],
  ] as const)('keeps what was shown before %s', async (_how, clientCertificate, reason) => {
    const banner = await grab(await listen(serveOldTls({ ...old, clientCertificate })));
    expect(banner.tls).toMatchObject({
      ...shown,
      chain: [rsaCertificate.toString('base64')],
      version: 'TLSv1.2',
      cipher: 'TLS_RSA_WITH_AES_128_CBC_SHA',
      error: expect.stringContaining(reason),
    });
  });

  it('a server that requests one and continues without it requires none', async () => {
    const banner = await grab(await serve({ requestCert: true, rejectUnauthorized: false }));
    expect(banner.tls?.chain).toEqual(shown.chain);
    expect(banner.tls).not.toHaveProperty('client_certificate');
    expect(banner.tls).not.toHaveProperty('error');
  });
});

describe('servers that break the handshake off for another reason', () => {
  it('keeps the certificate of a server with suites too old for this client', async () => {
    const banner = await grab(
      await listen(
        serveOldTls({
          versions: [0x0300, 0x0301],
          suites: [suiteIdOf('TLS_RSA_WITH_RC4_128_MD5')],
          certificate: rsaCertificate,
        }),
      ),
    );
    expect(banner.tls).toMatchObject({
      version: 'TLSv1.0',
      cipher: 'TLS_RSA_WITH_RC4_128_MD5',
      chain: [rsaCertificate.toString('base64')],
      error: expect.stringContaining('handshake failure'),
    });
    expect(banner.tls).not.toHaveProperty('client_certificate');
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('keeps the certificate behind STARTTLS in %s', async (version) => {
    const secureContext = createSecureContext({ ...serverKey(), minVersion: version, maxVersion: version });
    const options = { isServer: true, secureContext, requestCert: true, rejectUnauthorized: true };
    const port = await listen((socket) => {
      socket.write('220 mail.example ESMTP\r\n');
      const talk = (bytes: Buffer) => {
        const command = bytes.toString('latin1');
        if (!command.startsWith('STARTTLS')) return socket.write('250-mail.example\r\n250 STARTTLS\r\n');
        socket.off('data', talk);
        socket.write('220 go ahead\r\n');
        new TLSSocket(socket, options).on('error', () => undefined);
      };
      socket.on('data', talk);
    });
    const banner = await grab(port);
    expect(banner).toMatchObject({ probe: 'smtp', tls: { ...shown, version } });
    expect(banner.tls?.error).toContain(tlsRejection);
    expect(banner.banner).toMatch(/^220 mail\.example/);
  });

  it('a server that rejects every hello on any port is a TLS server', async () => {
    const banner = await grab(await listen(serveOldTls({ versions: [0x0303], suites: [] })));
    expect(banner).toMatchObject({ probe: 'http', tls_error: `${tlsRejection} handshake failure` });
    expect(observedService(banner)).toBe('tls');
  });

  it('opens no further connection to a port that closes without a word', async () => {
    let hellos = 0;
    const port = await listen((socket: Socket) => {
      socket.once('data', (bytes) => {
        if (bytes[0] === 22) hellos += 1;
        socket.destroy();
      });
    });
    const banner = await grab(port);
    expect(banner.tls).toBeUndefined();
    expect(hellos).toBe(1);
  });
});
