import { mkdir, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { port, summary } from '../../../../test/result-rows.ts';
import { createToken } from '../../../actions/access/create-token.ts';
import type { ResultRow } from '../../../domain/result.ts';
import { syntheticScan } from '../../../report/fixtures/synthetic-scan.ts';
import { openRecord } from '../../../workspace/record/record-writer.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
let base = '';
beforeAll(async () => {
  service = await openService();
  base = await service.listen();
});
afterAll(() => service.close());

const eventually = { timeout: 120_000, interval: 20 };

/** A finished scan with these rows in its record. */
async function finishedScan(rows: AsyncIterable<ResultRow> | Iterable<ResultRow>): Promise<string> {
  const scanId = await service.submit('done');
  const record = await openRecord(service.workspace.scan(scanId));
  for await (const row of rows) await record.append(row);
  await record.finish({ ...summary, scan_id: scanId, live_hosts: 0, open_ports: 0, vulnerabilities: 0 });
  await service.store.scans.update(scanId, { status: 'running' });
  await service.store.scans.update(scanId, { status: 'completed', completed_at: summary.timestamp });
  return scanId;
}

function exportUrl(scanId: string, query: Record<string, string>): string {
  return `/api/v1/workspace/scans/${scanId}/export?${new URLSearchParams(query)}`;
}

async function refusal(scanId: string, query: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') {
  const response = await service.app.inject({ method, url: exportUrl(scanId, query) });
  expect(response.headers['content-disposition']).toBeUndefined();
  const error = method === 'GET' ? response.json().error : { code: null, details: {} };
  return { status: response.statusCode, code: error.code, fields: error.details.fields };
}

describe('options of a report', () => {
  it.each([
    [{ format: 'html', paper: 'a3' }, 'paper'],
    [{ format: 'pdf', against: 'latest' }, 'against'],
    [{ format: 'markdown', fix: '0' }, 'fix'],
    [{ format: 'markdown', fix: 'two' }, 'fix'],
    [{ format: 'markdown', paper: 'a4' }, 'paper'],
    [{ format: 'pdf', fix: '1' }, 'fix'],
    [{ format: 'csv', template: 'corporate' }, 'template'],
    [{ format: 'json', against: '20261006-143022-a1b2c3' }, 'against'],
  ])('%j is refused, naming %s', async (query, field) => {
    const scanId = await finishedScan([port(22)]);
    expect(await refusal(scanId, query)).toMatchObject({
      status: 400,
      code: 'invalid_request',
      fields: [{ field }],
    });
    expect((await refusal(scanId, query, 'HEAD')).status).toBe(400);
  });

  it.each(['corporate', '../../config', 'a/b', 'x'.repeat(65)])(
    'an unknown template %j is named',
    async (template) => {
      const scanId = await finishedScan([port(22)]);
      const response = await service.app.inject({ url: exportUrl(scanId, { format: 'pdf', template }) });
      expect(response.statusCode).toBe(400);
      expect(response.json().error.message).toMatch(/template/);
      expect((await refusal(scanId, { format: 'pdf', template }, 'HEAD')).status).toBe(400);
    },
  );

  it('a template of the workspace gives its title to every format', async () => {
    const folder = join(service.workspace.templatesDir, 'corporate');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'template.yaml'), 'title: Quarterly review\n');
    const scanId = await finishedScan([port(22)]);
    for (const format of ['html', 'markdown']) {
      const query = { format, template: 'corporate' };
      const response = await service.app.inject({ url: exportUrl(scanId, query) });
      expect([format, response.statusCode, response.body]).toEqual([
        format,
        200,
        expect.stringContaining('Quarterly review'),
      ]);
    }
    const paper = await service.app.inject({
      url: exportUrl(scanId, { format: 'pdf', template: 'corporate', paper: 'letter' }),
    });
    expect(paper.rawPayload.toString('latin1')).toContain('/MediaBox [0 0 612 792]');
  });

  it('an earlier scan must have finished, and so must the scan itself', async () => {
    const done = await finishedScan([port(22)]);
    const waiting = await service.submit('waiting');
    for (const method of ['GET', 'HEAD'] as const) {
      const status = async (scanId: string, against: string) =>
        (await refusal(scanId, { format: 'html', against }, method)).status;
      expect(await status(done, waiting)).toBe(409);
      expect(await status(waiting, done)).toBe(409);
      expect(await status(done, '20261006-143022-a1b2c3')).toBe(404);
    }
    const before = await finishedScan([]);
    const render = vi.spyOn(service.context.reports, 'render');
    const html = await service.app.inject({ url: exportUrl(done, { format: 'html', against: before }) });
    expect(html.statusCode).toBe(200);
    const { changes } = render.mock.calls[0]?.[0].options ?? {};
    render.mockRestore();
    expect(changes).toMatchObject({ against: before, at: summary.timestamp, new: 0, unchanged: 0 });
  });
});

it('an earlier scan of another tenant is as unknown as one that never was', async () => {
  const tenants = await openService({
    'multi_tenant.enabled': true,
    'multi_tenant.tenants': 'acme,globex',
    'server.api.auth': true,
  });
  try {
    const scanOf = async (tenant: string) => {
      const order = { name: 'test', scopes: ['scan:read', 'scan:write'], expiry: '1h', tenant };
      const headers = {
        authorization: `Bearer ${(await createToken(tenants.store, order)).token}`,
        'x-tenant-id': tenant,
      };
      const payload = { targets: ['127.0.0.1'] };
      const response = await tenants.app.inject({ method: 'POST', url: '/api/v1/scans', payload, headers });
      const scanId: string = response.json().data.scan_id;
      await tenants.store.scans.update(scanId, { status: 'running' });
      await tenants.store.scans.update(scanId, { status: 'completed', completed_at: summary.timestamp });
      return { scanId, headers };
    };
    const [own, theirs] = [await scanOf('acme'), await scanOf('globex')];
    const ask = async (against: string) => {
      const url = exportUrl(own.scanId, { format: 'html', against });
      const response = await tenants.app.inject({ url, headers: own.headers });
      const { code, message } = response.json().error;
      return { status: response.statusCode, code, message: message.replace(against, 'ID') };
    };
    expect(await ask(theirs.scanId)).toEqual(await ask('20261006-143022-a1b2c3'));
    expect((await ask(theirs.scanId)).status).toBe(404);
  } finally {
    await tenants.close();
  }
});

it('a fix that the report does not have is named before the first byte', async () => {
  const scanId = await finishedScan(syntheticScan({ hosts: 2, findings: 4 }).rows());
  expect(
    (await service.app.inject({ url: exportUrl(scanId, { format: 'markdown', fix: '1' }) })).statusCode,
  ).toBe(200);
  expect(await refusal(scanId, { format: 'markdown', fix: '99' })).toMatchObject({
    status: 400,
    code: 'invalid_request',
    fields: [{ field: 'fix' }],
  });
});

describe('the thread of a report', () => {
  it('ends when its client is gone, and its place is free again', async () => {
    const scanId = await finishedScan(syntheticScan({ hosts: 1000 }).rows());
    for (let client = 0; client < 3; client++) {
      await new Promise<void>((resolve, reject) => {
        const request = get(base + exportUrl(scanId, { format: 'html' }), (response) => {
          response.once('data', () => {
            expect(service.context.reports.running).toBe(1);
            request.destroy();
            resolve();
          });
        });
        request.on('error', reject);
      });
      await vi.waitFor(() => expect(service.context.reports.running).toBe(0), eventually);
    }
  });

  it('is not started for HEAD', async () => {
    const scanId = await finishedScan([port(22)]);
    const render = vi.spyOn(service.context.reports, 'render');
    for (const format of ['html', 'pdf', 'markdown']) {
      const response = await service.app.inject({ method: 'HEAD', url: exportUrl(scanId, { format }) });
      expect([response.statusCode, response.body]).toEqual([200, '']);
    }
    expect(render).not.toHaveBeenCalled();
    await service.app.inject({ url: exportUrl(scanId, { format: 'html' }) });
    expect(render).toHaveBeenCalledTimes(1);
    render.mockRestore();
  });

  it('that finds the scan deleted is a 404 before the first byte', async () => {
    const scanId = await finishedScan([port(22)]);
    const folder = service.workspace.scan(scanId);
    const { reports } = service.context;
    const render = reports.render.bind(reports);
    const late = vi.spyOn(reports, 'render').mockImplementation(async (job, signal) => {
      await rm(folder.path, { recursive: true });
      return await render(job, signal);
    });
    const response = await service.app.inject({ url: exportUrl(scanId, { format: 'html' }) });
    late.mockRestore();
    expect([response.statusCode, response.json().error.code]).toEqual([404, 'not_found']);
    expect(response.headers['content-disposition']).toBeUndefined();
  });
});
