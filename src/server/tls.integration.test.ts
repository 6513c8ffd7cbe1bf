import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PortolanError } from '../domain/errors.ts';
import { type CertificateFiles, makeCertificate } from './fixtures/certificates.ts';
import { readTls } from './tls.ts';

const folder = mkdtempSync(join(tmpdir(), 'portolan-tls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let good: CertificateFiles;
let other: CertificateFiles;
let expired: CertificateFiles;
let early: CertificateFiles;
beforeAll(() => {
  const make = (name: string, validity?: [number, number]) =>
    makeCertificate(join(folder, name), { subject: 'scan.example.net' }, validity);
  good = make('good');
  other = make('other');
  expired = make('expired', [-2, -1]);
  early = make('early', [1, 2]);
  writeFileSync(join(folder, 'garbage.pem'), 'nothing');
  writeFileSync(join(folder, 'large.pem'), Buffer.alloc(1024 * 1024 + 1));
});

const read = (files: Partial<CertificateFiles>) => readTls({ enabled: true, ...good, ...files });

describe('certificate and key of the server', () => {
  it('are read when they fit', async () => {
    expect(await read({})).toMatchObject({ minVersion: 'TLSv1.2', warnings: [] });
    expect(await readTls({ enabled: false, cert_file: '', key_file: '' })).toBeNull();
  });

  it.each([
    ['a key of another certificate', () => ({ key_file: other.key_file }), /key_file: .* is not the key of/],
    ['a certificate that expired', () => expired, /cert_file: .* expired on /],
    ['a certificate that is not valid yet', () => early, /cert_file: .* is not valid before /],
    ['a missing certificate', () => ({ cert_file: '/nowhere/c.pem' }), /cert_file: .*no such file/],
    ['a missing key', () => ({ key_file: '/nowhere/k.pem' }), /key_file: .*no such file/],
    ['no certificate named', () => ({ cert_file: '' }), /cert_file is not set/],
    ['no key named', () => ({ key_file: '' }), /key_file is not set/],
    ['a certificate that is none', () => ({ cert_file: join(folder, 'garbage.pem') }), /no PEM certificate/],
    ['a key that is none', () => ({ key_file: join(folder, 'garbage.pem') }), /no PEM private key/],
    ['the two exchanged', () => ({ cert_file: good.key_file }), /no PEM certificate/],
    ['a folder', () => ({ cert_file: folder }), /cert_file: .*EISDIR/],
    ['a large file', () => ({ cert_file: join(folder, 'large.pem') }), /larger than/],
  ])('are refused: %s', async (_case, files, text) => {
    const refused = await read(files()).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PortolanError);
    expect(refused).toMatchObject({ code: 'configuration', message: expect.stringMatching(text) });
  });

  it('are warned about when others can read the key, and when the certificate expires soon', async () => {
    const key_file = join(folder, 'open.pem');
    copyFileSync(good.key_file, key_file);
    chmodSync(key_file, 0o644);
    expect((await read({ key_file }))?.warnings).toEqual([expect.stringMatching(/every user .*chmod 600/)]);
    const soon = makeCertificate(join(folder, 'soon'), { subject: 'x' }, [-1, 3]);
    expect((await read(soon))?.warnings).toEqual([expect.stringMatching(/expires on /)]);
  });
});
