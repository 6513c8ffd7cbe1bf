import { get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileRows, port, summary } from '../../../../test/result-rows.ts';
import type { ResultRow } from '../../../domain/result.ts';
import { openRecord } from '../../../workspace/record/record-writer.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
let base = '';
beforeAll(async () => {
  service = await openService();
  base = await service.listen();
});
afterAll(() => service.close());

/** A finished scan with these rows in its record. */
async function finishedScan(rows: Iterable<ResultRow>, name = 'done'): Promise<string> {
  const scanId = await service.submit(name);
  const record = await openRecord(service.workspace.scan(scanId));
  for (const row of rows) await record.append(row);
  await record.finish({ ...summary, scan_id: scanId });
  await service.store.scans.update(scanId, { status: 'running' });
  await service.store.scans.update(scanId, { status: 'completed', completed_at: summary.timestamp });
  return scanId;
}

const exportUrl = (scanId: string, format: string) =>
  `/api/v1/workspace/scans/${scanId}/export?format=${encodeURIComponent(format)}`;

describe('export', () => {
  it.each([
    ['json', 'application/json', 'json', /^\{"data":\{"scan_id":/],
    ['jsonl', 'application/x-ndjson', 'jsonl', /^\{"type":"port"/],
    ['csv', 'text/csv; charset=utf-8', 'csv', /^host,port/],
    ['html', 'text/html; charset=utf-8', 'html', /^<!doctype html>/],
    ['pdf', 'application/pdf', 'pdf', /^%PDF-/],
    ['markdown', 'text/markdown; charset=utf-8', 'md', /^# /],
    ['nmap', 'application/xml', 'xml', /^<\?xml version="1.0"/],
    ['sarif', 'application/sarif+json', 'sarif', /^\{"\$schema":/],
    ['tar.gz', 'application/gzip', 'tar.gz', /^\x1f/],
    ['artifacts', 'application/gzip', 'tar.gz', /^\x1f/],
  ])('gives %s as %s with a safe name', async (format, type, extension, beginning) => {
    const scanId = await finishedScan([port(22)]);
    const response = await service.app.inject({ url: exportUrl(scanId, format) });
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': type,
      'content-disposition': `attachment; filename="${scanId}.${extension}"`,
      'x-scan-status': 'completed',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    expect(response.body).toMatch(beginning);
    const head = await service.app.inject({ method: 'HEAD', url: exportUrl(scanId, format) });
    expect({ type: head.headers['content-type'], body: head.body }).toEqual({ type, body: '' });
  });

  it('sends the page for people with a policy that lets nothing run', async () => {
    const response = await service.app.inject({ url: exportUrl(await finishedScan([port(22)]), 'html') });
    expect(response.headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; img-src data:; frame-ancestors 'none'",
    );
  });

  it('holds the whole folder of the scan in the archive', async () => {
    const scanId = await finishedScan([port(22)]);
    const response = await service.app.inject({ url: exportUrl(scanId, 'tar.gz') });
    const names = (await unpackTar(gunzipSync(response.rawPayload))).map(({ header }) => header.name);
    expect(names).toEqual(expect.arrayContaining([`${scanId}/request.json`, `${scanId}/results.jsonl`]));
    expect(names.every((name) => name.startsWith(`${scanId}/`))).toBe(true);
  });

  it.each(['json', 'jsonl', 'csv', 'html', 'pdf', 'markdown', 'nmap', 'sarif', 'tar.gz'])(
    'gives what is there of a waiting scan as %s',
    async (format) => {
      const scanId = await service.submit('waiting');
      const response = await service.app.inject({ url: exportUrl(scanId, format) });
      expect([response.statusCode, response.headers['x-scan-status']]).toEqual([200, 'pending']);
      expect(response.rawPayload.length).toBeGreaterThan(20);
    },
  );

  it('refuses other formats, listing those that exist', async () => {
    const scanId = await service.submit('waiting');
    const refused = await service.app.inject({ url: exportUrl(scanId, 'exe') });
    expect(refused.statusCode).toBe(400);
    expect(refused.json().error).toMatchObject({
      code: 'invalid_request',
      details: {
        fields: [
          {
            field: 'format',
            reason: 'must be one of json, jsonl, csv, html, pdf, markdown, nmap, sarif, tar.gz, artifacts',
          },
        ],
      },
    });
    expect((await service.app.inject({ url: exportUrl(scanId, '__proto__') })).statusCode).toBe(400);
  });

  it('takes nothing of a scan name into a header', async () => {
    const name = '../../x"\r\nSet-Cookie: a=b';
    const response = await service.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      payload: { targets: ['127.0.0.1'], name },
    });
    // A name with line breaks may be rejected; an accepted one is harmless.
    const scanIds = [await finishedScan([port(22)], '../../x" Set-Cookie: a=b')];
    if (response.statusCode === 201) scanIds.push(response.json().data.scan_id);
    for (const scanId of scanIds) {
      for (const format of ['json', 'jsonl', 'csv', 'html', 'pdf', 'markdown', 'nmap', 'sarif', 'tar.gz']) {
        const file = await service.app.inject({ url: exportUrl(scanId, format) });
        const extension = { nmap: 'xml', markdown: 'md' }[format] ?? format;
        expect(file.headers['content-disposition']).toBe(`attachment; filename="${scanId}.${extension}"`);
        expect(file.headers['set-cookie']).toBeUndefined();
        expect(file.headers['x-content-type-options']).toBe('nosniff');
      }
    }
  });

  it.each(['<img src=x onerror=alert(1)>', '=cmd()', '\x1b[2J\x1b]0;x\x07', 'x'.repeat(255)])(
    'returns the host name %j in JSON and escapes it in other formats',
    async (name) => {
      const scanId = await finishedScan(hostileRows(name));
      const [json, jsonl, csv, html, nmap] = await Promise.all(
        ['json', 'jsonl', 'csv', 'html', 'nmap'].map(
          async (format) => (await service.app.inject({ url: exportUrl(scanId, format) })).body,
        ),
      );
      expect(JSON.parse(json as string).data.results[0].hostnames).toEqual([name]);
      expect(JSON.parse((jsonl as string).split('\n')[1] as string).hostnames).toEqual([name]);
      for (const text of [html, nmap]) expect(text).not.toContain('<img');
      for (const text of [html, nmap, csv]) expect(text).not.toMatch(/[\x1b\x07]/);
      expect(csv).not.toMatch(/(?:^|[,\n])"?=/);
    },
  );
});

/** Opens a download and stops reading after its first bytes. */
function begin(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(base + url, (response) => {
      response.once('readable', () => {
        response.read(1);
        resolve(response);
      });
    }).on('error', reject);
  });
}

async function rest(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function* manyPorts(count: number): Generator<ResultRow> {
  for (let index = 0; index < count; index++) {
    const host = `10.0.${index >> 8}.${index & 255}`;
    yield { ...port(22, { banner: 'x'.repeat(4000) }), host };
  }
}

describe('a scan that is deleted during its export', () => {
  /** More than sockets take in advance. */
  const many = 2000;

  it.each(['json', 'jsonl', 'csv', 'html', 'pdf', 'markdown', 'nmap', 'sarif', 'tar.gz'])(
    'ends %s cleanly',
    async (format) => {
      const scanId = await finishedScan(manyPorts(many));
      const response = await begin(exportUrl(scanId, format));
      const deleted = await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${scanId}` });
      expect(deleted.statusCode).toBe(200);
      const bytes = await rest(response);
      expect(response.complete).toBe(true);
      if (format === 'tar.gz') {
        // Its first byte was read separately.
        expect((await unpackTar(gunzipSync(Buffer.concat([Buffer.of(0x1f), bytes])))).length).toBeGreaterThan(
          0,
        );
        return;
      }
      const text = bytes.toString();
      if (format === 'json') expect(JSON.parse(`{${text}`).data.results).toHaveLength(many);
      if (format === 'jsonl')
        expect(JSON.parse(text.trim().split('\n').at(-1) as string).type).toBe('summary');
      if (format === 'csv') expect(text.trim().split('\r\n')).toHaveLength(many + 1);
      if (format === 'html') expect(text.trimEnd()).toMatch(/<\/html>$/);
      if (format === 'nmap') expect(text.trimEnd()).toMatch(/<\/nmaprun>$/);
      if (format === 'sarif') expect(JSON.parse(`{${text}`).runs[0].results).toEqual([]);
      const again = await service.app.inject({ url: exportUrl(scanId, format) });
      expect(again.statusCode).toBe(404);
    },
  );
});
