import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { port, summary } from '../../../../test/result-rows.ts';
import { openRecord } from '../../../workspace/record/record-writer.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
let scanId = '';
beforeAll(async () => {
  service = await openService();
  scanId = await service.submit('records');
  const record = await openRecord(service.workspace.scan(scanId));
  for (let number = 120; number > 0; number--) await record.append(port(number));
  await record.finish({ ...summary, scan_id: scanId });
});
afterAll(() => service.close());

async function list(query: string, id = scanId) {
  const response = await service.app.inject({ url: `/api/v1/scans/${id}/records${query}` });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

describe('the records of a scan', () => {
  it('come in pages, ports ascending, with the links of a list', async () => {
    const { status, headers, body } = await list('?limit=50&offset=50');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ total: 120, limit: 50, offset: 50 });
    expect(body.data.records.map((row: { port: number }) => row.port)).toEqual(
      Array.from({ length: 50 }, (_, i) => 51 + i),
    );
    expect(headers['link']).toContain(`</api/v1/scans/${scanId}/records?limit=50&offset=100>; rel="next"`);
    expect(body.meta.request_id).toBe(headers['x-request-id']);
  });

  it('can be followed by cursors to the end', async () => {
    const ports: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await list(`?limit=33${cursor === '' ? '' : `&cursor=${cursor}`}`);
      ports.push(...body.data.records.map((row: { port: number }) => row.port));
      cursor = body.data.next_cursor;
    }
    expect(ports).toEqual(Array.from({ length: 120 }, (_, i) => i + 1));
  });

  it.each([
    '?limit=0',
    '?offset=-1',
    '?limit=1e9',
    '?cursor=x',
    '?cursor=cmVjb3JkIDE&offset=1',
    '?limit=1&limit=2',
  ])('refuses %s', async (query) => {
    const { status, body } = await list(query);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.details.fields).not.toEqual([]);
  });

  it('do not exist for a scan that does not', async () => {
    expect((await list('', '20200101-000000-000000')).status).toBe(404);
    expect((await list('', '..%2f')).status).toBe(404);
  });
});
