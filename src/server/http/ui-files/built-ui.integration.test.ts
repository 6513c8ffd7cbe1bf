import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../fixtures/service.ts';
import type { App } from '../app-type.ts';
import { sendError } from '../errors.ts';
import { uiRoutes } from '../resources/ui.ts';

const home = mkdtempSync(join(tmpdir(), 'portolan-built-'));
const folder = join(home, 'ui');
const script = `export const pages = '${'x'.repeat(5000)}';`;

mkdirSync(join(folder, 'assets'), { recursive: true });
writeFileSync(
  join(folder, 'index.html'),
  `<meta name="portolan-ui" content="./" /><meta name="portolan-api" content="./api" />
<script type="module" src="./assets/index-a1b2.js"></script>`,
);
writeFileSync(join(folder, 'assets', 'index-a1b2.js.br'), brotliCompressSync(script));
writeFileSync(join(folder, 'assets', 'index-a1b2.js.gz'), gzipSync(script));
writeFileSync(join(folder, 'assets', 'small-c3.css'), 'p {}');
writeFileSync(join(folder, 'favicon.svg'), '<svg/>');
writeFileSync(join(folder, '.stamp'), 'hash');
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The routes of the UI of a service, with built files of this test. */
async function serve(service: Service): Promise<App> {
  const app = Fastify() as unknown as App;
  app.decorateRequest('refusal', null);
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  await uiRoutes(app, service.context, folder);
  return app;
}

describe('the built UI', () => {
  let service: Service;
  let app: App;
  beforeAll(async () => {
    service = await openService();
    app = await serve(service);
  });
  afterAll(async () => {
    await app.close();
    await service.close();
  });
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

  it('is served with addresses that hold at every depth', async () => {
    for (const url of ['/ui/', '/ui/scans', '/ui/scans/20260101-000000-abcdef/hosts', '/ui/index.html']) {
      const { statusCode, body, headers } = await get(url);
      expect([url, statusCode, headers['cache-control']]).toEqual([url, 200, 'no-cache']);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'.*base-uri 'none'/);
      expect(body).toContain('<meta name="portolan-ui" content="/ui/" />');
      expect(body).toContain('src="/ui/assets/index-a1b2.js"');
    }
  });

  it('sends its page again only after a change', async () => {
    const { headers } = await get('/ui/');
    const tag = String(headers.etag);
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [tag, `"other", W/${tag}`, '*']) {
      const again = await get('/ui/scans', { 'if-none-match': known });
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', tag]);
    }
    expect((await get('/ui/', { 'if-none-match': '"other"' })).statusCode).toBe(200);
  });

  it.each([
    ['br, gzip', 'br', brotliCompressSync(script)],
    ['gzip', 'gzip', gzipSync(script)],
    ['br;q=0, gzip;q=0.1', 'gzip', gzipSync(script)],
    ['identity', undefined, Buffer.from(script)],
  ])('sends to those who accept %s the bytes of %s, to stay', async (accepted, encoding, bytes) => {
    const { statusCode, headers, rawPayload } = await get('/ui/assets/index-a1b2.js', {
      'accept-encoding': accepted,
    });
    expect(statusCode).toBe(200);
    expect(rawPayload.equals(bytes)).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers['accept-ranges']).toBeUndefined();
  });

  it('sends what has no compressed form as it is', async () => {
    const { headers, body } = await get('/ui/assets/small-c3.css', { 'accept-encoding': 'br, gzip' });
    expect([body, headers['content-encoding'], headers['content-type']]).toEqual([
      'p {}',
      undefined,
      'text/css; charset=utf-8',
    ]);
    const icon = await get('/ui/favicon.svg');
    expect([icon.headers['content-type'], icon.headers['cache-control']]).toEqual([
      'image/svg+xml',
      'no-cache',
    ]);
  });

  it('responds to HEAD without a body', async () => {
    for (const url of ['/ui/', '/ui/assets/index-a1b2.js']) {
      const { statusCode, body, headers } = await app.inject({ method: 'HEAD', url });
      expect([url, statusCode, body]).toEqual([url, 200, '']);
      expect(headers['content-type']).toMatch(/^text\/(?:html|javascript); charset=utf-8$/);
    }
  });

  it.each([
    '/ui/assets/none.js',
    '/ui/.stamp',
    '/ui/%2estamp',
    '/ui/..%2f..%2fpackage.json',
    '/ui/x/none.css',
  ])('has nothing at %s', async (url) => {
    const { statusCode, body } = await get(url);
    expect([statusCode, JSON.parse(body).error.code]).toEqual([404, 'not_found']);
  });

  it.each([`/ui/${'a'.repeat(300)}`, `/ui/${'a/'.repeat(3000)}b`])(
    'is a page at a path that no file system takes',
    async (url) => {
      expect((await get(url)).statusCode).toBe(200);
      expect((await get(`${url}.js`)).statusCode).toBe(404);
    },
  );

  it('is a page with the remedy while it is not built, and there as soon as it is', async () => {
    const aside = `${folder}-gone`;
    renameSync(folder, aside);
    try {
      for (const url of ['/ui/', '/ui/scans/x']) {
        const { statusCode, headers, body } = await get(url);
        expect([url, statusCode, headers['cache-control']]).toEqual([url, 503, 'no-store']);
        expect(headers['content-type']).toBe('text/html; charset=utf-8');
        expect(body).toContain('npm run build:ui');
        expect(body).not.toContain(home);
      }
      expect((await get('/ui/assets/index-a1b2.js')).statusCode).toBe(404);
    } finally {
      renameSync(aside, folder);
    }
    expect((await get('/ui/scans/x')).statusCode).toBe(200);
  });
});

describe('without what it needs', () => {
  it('the UI says that the API is off', async () => {
    const service = await openService({ 'server.api.enabled': false });
    const app = await serve(service);
    const { statusCode, body } = await app.inject({ url: '/ui/' });
    expect([statusCode, body.includes('server.api.enabled')]).toEqual([503, true]);
    await app.close();
    await service.close();
  });

  it.each(['', folder])('the UI of "%s" says that the license does not hold it', async (static_dir) => {
    const key = join(home, 'key.pem');
    writeFileSync(key, generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }));
    const service = await openService({
      'license.enforce': true,
      'license.public_key': key,
      'server.ui.static_dir': static_dir,
    });
    const app = await serve(service);
    const page = await app.inject({ url: '/ui/scans' });
    expect([page.statusCode, page.headers['content-type']]).toEqual([403, 'text/html; charset=utf-8']);
    expect(page.body).toContain('portolan license install');
    const file = await app.inject({ url: '/ui/assets/index-a1b2.js' });
    expect([file.statusCode, file.json().error]).toMatchObject([
      403,
      { code: 'license_required', details: { feature: 'ui' } },
    ]);
    await app.close();
    await service.close();
  });

  it('the style of such a page is the one thing that its policy lets in', async () => {
    const service = await openService({ 'server.api.enabled': false });
    const app = await serve(service);
    const { headers } = await app.inject({ url: '/ui/' });
    expect(headers['content-security-policy']).toMatch(/style-src 'sha256-[\w+/]{43}='; /);
    expect(headers['content-security-policy']).not.toContain('unsafe');
    await app.close();
    await service.close();
  });
});
