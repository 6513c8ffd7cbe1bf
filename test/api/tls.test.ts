import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CertificateFiles, makeCertificate } from '../../src/server/fixtures/certificates.ts';
import { Home } from '../cli/command.ts';
import { InProcessServer } from '../cli/in-process-server.ts';

// Each run of the command line takes a second, and several on a busy machine.

const folder = mkdtempSync(join(tmpdir(), 'portolan-tls-'));
const home = new Home();
// Neither the name nor the authority of the certificate is one that a client on 127.0.0.1 would believe.
const make = (name: string) =>
  makeCertificate(join(folder, name), { subject: name, alternative: 'DNS:scan.example.net' });
const first = make('first');
const second = make('second');
/** The files that the server reads; the test puts others in their place. */
const used: CertificateFiles = { cert_file: join(folder, 'cert.pem'), key_file: join(folder, 'key.pem') };
const tlsEnv = (files: CertificateFiles) => ({
  SERVICE_SERVER__TLS__ENABLED: 'true',
  SERVICE_SERVER__TLS__CERT_FILE: files.cert_file,
  SERVICE_SERVER__TLS__KEY_FILE: files.key_file,
});

function use({ cert_file, key_file }: CertificateFiles): void {
  copyFileSync(cert_file, used.cert_file);
  copyFileSync(key_file, used.key_file);
}

use(first);
const server = new InProcessServer({ env: tlsEnv(used) });
beforeAll(() => server.start());
afterAll(async () => {
  await server.dispose();
  home.remove();
  rmSync(folder, { recursive: true, force: true });
});

const authorities = [first, second].map(({ cert_file }) => readFileSync(cert_file));

/** What a handshake ends with: the version of TLS, or the code of the failure. */
function handshake(options: ConnectionOptions): Promise<{ version: string; serial: string } | string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    const socket = connect(
      { host: hostname, port: Number(port), rejectUnauthorized: false, ...options },
      () => {
        resolve({ version: socket.getProtocol() ?? '', serial: socket.getPeerCertificate().fingerprint256 });
        socket.end();
      },
    );
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

/** The status of an answer. @throws whatever broke the request */
function ask(agent: Agent, path = '/api/v1/version'): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { agent, ca: authorities, servername: 'scan.example.net', timeout: 10_000 };
    const asked = request(`${server.url}${path}`, options, (answer) => {
      answer
        .resume()
        .on('end', () => resolve(answer.statusCode ?? 0))
        .on('error', reject);
    });
    asked
      .on('error', reject)
      .on('timeout', () => asked.destroy(new Error('no answer')))
      .end();
  });
}

describe('a server with TLS', () => {
  it('takes TLS 1.2 and 1.3 and nothing older', async () => {
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await handshake({ maxVersion: 'TLSv1.2' })).toMatchObject({ version: 'TLSv1.2' });
    expect(await handshake({ minVersion: 'TLSv1.3' })).toMatchObject({ version: 'TLSv1.3' });
    for (const version of ['TLSv1', 'TLSv1.1'] as const) {
      // So that this side would speak it.
      const ciphers = 'DEFAULT:@SECLEVEL=0';
      expect(await handshake({ minVersion: version, maxVersion: version, ciphers })).toBe(
        'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
      );
    }
  });

  it('says nothing to plain HTTP and lives on', async () => {
    await expect(fetch(server.url.replace('https:', 'http:'))).rejects.toThrow();
    expect(await ask(new Agent())).toBe(200);
  });

  it('is used by the command line of the same machine, which believes its certificate and no other', async () => {
    const status = (env: NodeJS.ProcessEnv) =>
      home.run(['server', 'status', '--workspace-dir', server.workspace], { env });
    const known = await status(tlsEnv(used));
    expect([known.code, known.stdout]).toEqual([0, expect.stringContaining(server.url)]);
    const unknown = await status({});
    expect([unknown.code, unknown.stderr]).toEqual([
      4,
      expect.stringMatching(/no connection to .*certificate/),
    ]);
    const otherOne = await status(tlsEnv(second));
    expect([otherOne.code, otherOne.stderr]).toEqual([
      4,
      expect.stringMatching(/no connection to .*certificate/),
    ]);
    const scanned = await home.run(
      ['scan', '127.0.0.1', '--ports', '9', '--no-discover', '--workspace-dir', server.workspace],
      { env: tlsEnv(used) },
    );
    expect([scanned.code, scanned.stderr]).toEqual([
      0,
      expect.stringContaining(`submitted to ${server.url}`),
    ]);
  });

  it('takes another certificate at a reload and loses no request', async () => {
    const before = await handshake({});
    let going = true;
    const statuses: number[] = [];
    // Connections that stay and connections for one request each.
    const agents = [new Agent({ keepAlive: true, maxSockets: 4 }), new Agent({ keepAlive: false })];
    const clients = agents.flatMap((agent) =>
      Array.from({ length: 4 }, async () => {
        while (going) statuses.push(await ask(agent));
      }),
    );
    const traffic = Promise.all(clients);
    let shown = before;
    for (const files of [second, first, second]) {
      use(files);
      await server.reload();
      await expect.poll(() => handshake({})).not.toEqual(shown);
      await expect.poll(() => server.log).toMatch(/reloaded.*server\.tls\.cert_file.*server\.tls\.key_file/);
      shown = await handshake({});
    }
    going = false;
    await traffic;
    for (const agent of agents) agent.destroy();
    expect(statuses.length).toBeGreaterThan(50);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('keeps what it has when the new files are no good, and says so', async () => {
    const before = await handshake({});
    copyFileSync(first.key_file, used.key_file);
    await server.reload();
    await expect.poll(() => server.log).toMatch(/key_file: .* is not the key of/);
    expect(await handshake({})).toEqual(before);
    writeFileSync(used.cert_file, 'nothing');
    await server.reload();
    await expect.poll(() => server.log).toMatch(/no PEM certificate/);
    expect(await handshake({})).toEqual(before);
  });
});

describe('a server whose certificate is no good', () => {
  it.each([
    ['wrong pair', { ...first, key_file: second.key_file }, /is not the key of/],
    ['expired', makeCertificate(join(folder, 'expired'), { subject: 'x' }, [-2, -1]), /expired/],
    ['missing', { ...first, cert_file: join(folder, 'none.pem') }, /no such file/],
  ])('does not start: %s', async (name, files, text) => {
    const workspace = join(folder, `ws-${name}`);
    const ended = await home.run(['server', 'start', '--bind', '127.0.0.1:0', '--workspace-dir', workspace], {
      env: tlsEnv(files),
    });
    expect([ended.code, ended.stderr]).toEqual([3, expect.stringMatching(text)]);
    expect(existsSync(workspace)).toBe(false);
    expect(readdirSync(home.path)).toEqual([]);
  });
});
