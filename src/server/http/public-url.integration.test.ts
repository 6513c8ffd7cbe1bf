import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { openService, type Service } from '../fixtures/service.ts';

const publicUrl = 'https://Scanner.example:8443/portolan';

let service: Service;
beforeAll(async () => {
  service = await openService({ 'server.public_url': publicUrl });
});
afterAll(() => service.close());

const get = (url: string, headers: Record<string, string> = {}) => service.app.inject({ url, headers });
const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  service.app.inject({ method: 'POST', url, payload, headers });
const scan = { targets: ['127.0.0.1'] };

describe('server.public_url', () => {
  it('stands in Location and Link of scans, jobs and records', async () => {
    const made = await post('/api/v1/scans', scan);
    const { scan_id } = made.json().data;
    expect(made.headers['location']).toBe(`${publicUrl}/api/v1/scans/${scan_id}`);
    const job = await post('/api/v1/jobs', { type: 'scan', params: scan, schedule: '@daily' });
    expect(job.headers['location']).toBe(`${publicUrl}/api/v1/jobs/${job.json().data.job_id}`);
    for (const path of ['/api/v1/scans', '/api/v1/jobs', `/api/v1/scans/${scan_id}/records`]) {
      const { headers } = await get(path);
      expect(String(headers['link'])).toContain(`<${publicUrl}${path}?`);
    }
  });

  it('is the server of the OpenAPI description', async () => {
    expect((await get('/api/v1/openapi.json')).json().servers).toEqual([{ url: publicUrl }]);
  });

  it('names an allowed host, beside those that are allowed without it', async () => {
    for (const url of ['/api/v1/docs', '/api/v1/scans']) {
      for (const host of ['scanner.example', 'SCANNER.example.:8443', 'localhost:8080']) {
        expect([url, host, (await get(url, { host })).statusCode]).toEqual([url, host, 200]);
      }
      expect((await get(url, { host: 'other.example' })).statusCode).toBe(403);
    }
  });

  it('has the own origin, whatever Host a proxy sends', async () => {
    const status = async (origin: string) =>
      (await post('/api/v1/scans', scan, { origin, host: '127.0.0.1:8080' })).statusCode;
    expect(await status('https://scanner.example:8443')).toBe(201);
    for (const origin of ['http://scanner.example:8443', 'https://scanner.example', 'null']) {
      expect([origin, await status(origin)]).toEqual([origin, 403]);
    }
  });

  it.each([
    'https://a.example/',
    'https://a.example/x/',
    'https://a.example?x=1',
    'https://me:secret@a.example',
    'ftp://a.example',
    '/portolan',
    'https://a.example/a b',
  ])('%s is a configuration error', (value) => {
    const flags = { 'server.public_url': value };
    expect(() => loadConfig({ env: { HOME: service.dir }, systemFile: 'none.yaml', flags })).toThrow(
      'server.public_url',
    );
  });
});
