import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { htmlFaults } from '../../../../test/valid-html.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ 'server.api.auth': true, 'server.allowed_hosts': 'scan.example.net' });
});
afterAll(() => service.close());

const get = (url: string, host = 'scan.example.net') => service.app.inject({ url, headers: { host } });

describe('the page about the API', () => {
  it('needs no token, runs nothing inline and fits in no frame', async () => {
    const { statusCode, headers, body } = await get('/api/v1/docs');
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(body).not.toMatch(/<script>|\son\w+=|style=|javascript:|https?:/i);
  });

  it('leads back to the Web UI, whose theme it takes', async () => {
    expect((await get('/api/v1/docs')).body).toContain('<nav><a href="../../">');
    expect((await get('/api/v1/docs/page.js')).body).toContain("localStorage.getItem('portolan.theme')");
  });

  it('is valid HTML', async () => {
    expect(await htmlFaults((await get('/api/v1/docs')).body)).toEqual([]);
  });

  it('brings everything along that it names', async () => {
    const { body } = await get('/api/v1/docs');
    const named = [...body.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => path);
    expect(named).toHaveLength(4);
    for (const path of named) {
      const { statusCode, headers, body: text } = await get(`/api/v1/${path}`);
      expect([path, statusCode]).toEqual([path, 200]);
      expect(headers['content-type']).toMatch(/^text\/(?:css|javascript); charset=utf-8$/);
      expect(text.length).toBeGreaterThan(500);
    }
    expect(
      (
        await service.app.inject({
          method: 'HEAD',
          url: '/api/v1/docs/swagger-ui.css',
          headers: { host: 'scan.example.net' },
        })
      ).statusCode,
    ).toBe(200);
    const shown = await get('/api/v1/openapi.json');
    expect([shown.statusCode, shown.json().error.code]).toEqual([401, 'unauthorized']);
  });

  it('is served under the allowed host names only', async () => {
    for (const host of ['evil.example', 'scan.example.net.evil.example', 'localhost', '127.0.0.1']) {
      for (const url of ['/api/v1/docs', '/api/v1/docs/page.js']) {
        const response = await get(url, host);
        expect([response.statusCode, response.json().error.code]).toEqual([403, 'forbidden_origin']);
      }
    }
    const usual = await openService();
    const status = async (host: string) =>
      (await usual.app.inject({ url: '/api/v1/docs', headers: { host } })).statusCode;
    expect([await status('localhost:8080'), await status('127.0.0.1'), await status('evil.example')]).toEqual(
      [200, 200, 403],
    );
    await usual.close();
  });

  it('leaves errors below it to the API', async () => {
    const response = await get('/api/v1/docs/nothing');
    expect([response.statusCode, response.json().error.code]).toEqual([401, 'unauthorized']);
  });
});
