import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ownPath, respondUnder } from '../../../test/own-path.ts';
import { makeCertificate } from '../../server/fixtures/certificates.ts';
import { downloadPart } from './download-part.ts';
import type { AddressRules } from './open-checked.ts';

const path = ownPath();
const known = getCACertificates('default');
let dir = '';
let server: Server;
let port = 0;
let serve: RequestListener;
/** Paths without the own part, in the order of the requests. */
let asked: string[];
let resolved: string[];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'checked-'));
  const alternative = 'DNS:plugins.test,DNS:cdn.test,DNS:mixed.test,IP:127.0.0.1';
  const { cert_file, key_file } = makeCertificate(dir, { subject: 'plugins.test', alternative });
  const cert = readFileSync(cert_file, 'utf8');
  setDefaultCACertificates([...known, cert]);
  const respond = respondUnder(path, (request, response) => {
    asked.push(`${request.headers.host?.split(':')[0]}${request.url}`);
    serve(request, response);
  });
  server = createServer({ cert, key: readFileSync(key_file) }, respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  setDefaultCACertificates(known);
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
  resolved = [];
  serve = (_request, response) => response.end('content');
});

const urlOf = (host: string, rest = '/p') => `https://${host}:${port}${path}${rest}`;

/** Every name is this machine; its loopback address counts as public, 127.0.0.2 as private. */
const open: AddressRules = {
  mayBePrivate: false,
  isPublic: (address) => address === '127.0.0.1',
  async resolve(name) {
    resolved.push(name);
    return name === 'mixed.test' ? ['127.0.0.1', '127.0.0.2'] : ['127.0.0.1'];
  },
};
const download = async (url: string, rules: AddressRules) => String(await downloadPart(url, 1000, rules));
const redirectTo = (location: string) => {
  serve = (request, response) => {
    if (request.url === '/p') response.writeHead(302, { location }).end();
    else response.end('content');
  };
};

describe('a download with checked addresses', () => {
  it('follows a redirect to another public host, and asks for each name once', async () => {
    redirectTo(urlOf('cdn.test', '/q'));
    expect(await download(urlOf('plugins.test'), open)).toBe('content');
    expect(asked).toEqual(['plugins.test/p', 'cdn.test/q']);
    expect(resolved).toEqual(['plugins.test', 'cdn.test']);
  });

  it('connects to the address that was checked, not to what the name is at another time', async () => {
    // The names do not exist: only the checked address can lead here.
    expect(await download(urlOf('cdn.test'), open)).toBe('content');
    const onlyTheOther: AddressRules = {
      ...open,
      isPublic: () => true,
      resolve: async () => ['127.0.0.9'],
    };
    await expect(download(urlOf('127.0.0.1'), onlyTheOther)).resolves.toBe('content');
    await expect(download(urlOf('cdn.test'), onlyTheOther)).rejects.toThrow(/cannot connect .*127\.0\.0\.9/);
  });

  it('refuses a name that has a private address among others', async () => {
    redirectTo(urlOf('mixed.test', '/q'));
    await expect(download(urlOf('plugins.test'), open)).rejects.toThrow(
      /redirects to a private address, mixed\.test \(127\.0\.0\.2\); not followed/,
    );
    expect(asked).toEqual(['plugins.test/p']);
  });

  it.each([
    ['https://127.0.0.1:PORT/q', /private address/],
    ['https://2130706433:PORT/q', /private address/],
    ['https://[::ffff:127.0.0.1]:PORT/q', /private address/],
    ['https://10.0.0.1/q', /private address/],
    ['https://169.254.169.254/latest/meta-data/', /private address/],
    ['https://name:secret@plugins.test:PORT/q', /credentials/],
    ['http://plugins.test:PORT/q', /away from https/],
    ['file:///etc/passwd', /away from https/],
  ])('of a typed private host follows no redirect to %s', async (location, reason) => {
    redirectTo(location.replace('PORT', String(port)));
    const rules = { mayBePrivate: true, resolve: async () => ['127.0.0.1'] };
    await expect(download(urlOf('plugins.test'), rules)).rejects.toThrow(reason);
    expect(asked).toEqual(['plugins.test/p']);
  });

  it('of a typed private host follows a redirect within it', async () => {
    redirectTo(`${path}/q`);
    const rules = { mayBePrivate: true, resolve: async () => ['127.0.0.1'] };
    expect(await download(urlOf('plugins.test'), rules)).toBe('content');
    expect(asked).toEqual(['plugins.test/p', 'plugins.test/q']);
  });

  it('refuses a private host that was not typed', async () => {
    await expect(download(urlOf('127.0.0.1'), { mayBePrivate: false })).rejects.toThrow(
      /is a private address/,
    );
    expect(asked).toEqual([]);
  });

  it('ends a chain of redirects', async () => {
    let hops = 0;
    serve = (_request, response) =>
      response.writeHead(302, { location: urlOf('plugins.test', `/${++hops}`) }).end();
    await expect(download(urlOf('plugins.test'), open)).rejects.toThrow(/not followed/);
    expect(asked).toHaveLength(6);
  });
});
