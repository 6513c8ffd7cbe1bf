import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CertificateFiles, makeCertificate } from '../../server/fixtures/certificates.ts';
import { describeGrpc } from './describe-grpc.ts';
import { PluginServer } from './fixtures/plugin-server.ts';

const limits = { output: 1024 * 1024 };
const never = new AbortController().signal;
const none = { ca_file: '', cert_file: '', key_file: '' };
let folder: string;
let own: CertificateFiles;
let client: CertificateFiles;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portolan-grpc-tls-'));
  own = makeCertificate(join(folder, 'own'), { subject: 'plugin', alternative: 'IP:127.0.0.1' });
  client = makeCertificate(join(folder, 'client'), { subject: 'scanner' });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A plugin that demands the certificate of the client. */
function start(): Promise<PluginServer> {
  return PluginServer.start({
    tls: {
      cert: readFileSync(own.cert_file),
      key: readFileSync(own.key_file),
      ca: readFileSync(client.cert_file),
      requestCert: true,
      rejectUnauthorized: true,
    },
  });
}

async function ask(tls: typeof none): Promise<string> {
  await using server = await start();
  const { name } = await describeGrpc(server.entry({ tls }), limits, never);
  return name;
}

describe('a plugin behind TLS', () => {
  it('is reached with the certificates of the entry', async () => {
    const { cert_file, key_file } = client;
    expect(await ask({ ca_file: own.cert_file, cert_file, key_file })).toBe('port_notes');
  });

  it.each<[string, () => typeof none, RegExp]>([
    ['without the authority of the plugin', () => ({ ...none, ...client }), /self-signed certificate/],
    [
      'without a certificate of the client',
      () => ({ ...none, ca_file: own.cert_file }),
      /127\.0\.0\.1:\d+: /,
    ],
    ['without TLS', () => none, /127\.0\.0\.1:\d+: /],
    [
      'with a file that is missing',
      () => ({ ...none, ca_file: '/nowhere/ca.pem' }),
      /tls\.ca_file: \/nowhere\/ca\.pem: ENOENT/,
    ],
  ])('is not reached %s', async (_name, tls, reason) => {
    await expect(ask(tls())).rejects.toThrow(reason);
  });
});
