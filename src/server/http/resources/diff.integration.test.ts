import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
beforeEach(async () => {
  service = await openService({}, { working: true });
});
afterEach(() => service.close());

function get(url: string, method: 'GET' | 'HEAD' = 'GET') {
  return service.app.inject({ method, url });
}

async function finished(rows: number, more: object = {}): Promise<string> {
  const id = await service.submit(`rows ${rows}`, more);
  await service.until(id, ({ status }) => status === 'completed');
  return id;
}

describe('GET /api/v1/scans/{scan_id}/diff', () => {
  it('returns the changes since the baseline', async () => {
    const before = await finished(2, { targets: ['127.0.0.0/24'] });
    const after = await finished(3, { targets: ['127.0.0.0/24'] });
    const response = await get(`/api/v1/scans/${after}/diff?against=${before}`);
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    const { data, meta } = response.json();
    expect(data).toEqual({
      scan_id: after,
      against: before,
      hosts: { added: ['127.0.0.3'], removed: [] },
      ports: { added: [], removed: [], changed: [] },
      vulnerabilities: { new: [], resolved: [], unchanged_count: 0 },
      not_comparable: [],
    });
    expect(meta).toMatchObject({ timestamp: expect.any(String), request_id: expect.any(String) });
    const reverse = (await get(`/api/v1/scans/${before}/diff?against=${after}`)).json();
    expect(reverse.data.hosts).toEqual({ added: [], removed: ['127.0.0.3'] });
    const head = await get(`/api/v1/scans/${after}/diff?against=${before}`, 'HEAD');
    expect([head.statusCode, head.body]).toEqual([200, '']);
  });

  it('never calls a host outside the targets of one scan removed', async () => {
    const wide = await finished(3, { targets: ['127.0.0.0/24'] });
    const narrow = await finished(1, { targets: ['127.0.0.1'] });
    const { data } = (await get(`/api/v1/scans/${narrow}/diff?against=${wide}`)).json();
    expect(data.hosts).toEqual({ added: [], removed: [] });
    expect(data.not_comparable).toEqual(
      ['127.0.0.2', '127.0.0.3'].map((host) => ({
        host,
        port: null,
        protocol: null,
        reason: 'out_of_scope',
        missing_in: narrow,
      })),
    );
  });

  it('refuses a bad baseline with 400, an unknown one with 404, an unfinished scan with 409', async () => {
    const done = await finished(1);
    const running = await service.submit('hang');
    await service.until(running, ({ status }) => status === 'running');
    const unknown = '20260101-000000-abcdef';
    for (const [query, status, code] of [
      ['', 400, 'invalid_request'],
      ['?against=', 400, 'invalid_request'],
      ['?against=..%2f..%2fetc', 400, 'invalid_request'],
      [`?against=${done}&against=${done}`, 400, 'invalid_request'],
      [`?against=${unknown}`, 404, 'not_found'],
      [`?against=${running}`, 409, 'conflict'],
    ] as const) {
      const response = await get(`/api/v1/scans/${done}/diff${query}`);
      expect([query, response.statusCode, response.json().error.code]).toEqual([query, status, code]);
    }
    for (const [id, status] of [
      [unknown, 404],
      ['nonsense', 404],
      [running, 409],
    ] as const)
      expect((await get(`/api/v1/scans/${id}/diff?against=${done}`)).statusCode).toBe(status);
    const post = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${done}/diff` });
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});
