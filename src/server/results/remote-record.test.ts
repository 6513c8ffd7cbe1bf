import { expect, it } from 'vitest';
import { finding, host, port, summary } from '../../../test/result-rows.ts';
import { RemoteRecord } from './remote-record.ts';

const id = '20261006-143022-a1b2c3';
const damage = { type: 'error', timestamp: '', host: null, target: null, code: 'record_damaged', node: null };

/** A record whose owner responds so. */
function recordOf({ rows = '', warnings = [] as string[] }, asked: string[] = []): RemoteRecord {
  return new RemoteRecord(id, async (url) => {
    asked.push(url);
    if (url.endsWith('format=jsonl')) return new Response(rows);
    return Response.json({
      data: { records: [], warnings: warnings.map((code) => ({ code, message: '' })) },
    });
  });
}

const lines = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

it('has the rows that its owner sends, without the summary', async () => {
  const asked: string[] = [];
  const rows = [host, port(443), finding(443, 'CVE-1', 'high')];
  const record = recordOf({ rows: lines(...rows, summary) }, asked);
  expect(await Array.fromAsync(record.rows())).toEqual(rows);
  const view = await record.open();
  expect(await view.verify()).toBeNull();
  expect(await Array.fromAsync(view.rows('none'))).toEqual(rows);
  expect(asked).toEqual([
    `/api/v1/scans/${id}/results?format=jsonl`,
    `/api/v1/scans/${id}/records?limit=1`,
    `/api/v1/scans/${id}/results?format=jsonl`,
  ]);
});

it('is damaged where its owner says so: no row of it is sure to be whole', async () => {
  const record = recordOf({ rows: lines(damage, host, summary), warnings: ['record_damaged'] });
  const view = await record.open();
  expect(await view.verify()).toBe('damaged');
  expect(await Array.fromAsync(view.rows())).toEqual([host]);
  expect(await Array.fromAsync(view.rows('none'))).toEqual([]);
});

it('fails when the connection breaks: missing rows must not look like none', async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(Buffer.from(lines(host)));
      controller.error(new Error('reset'));
    },
  });
  const record = new RemoteRecord(id, async () => new Response(broken));
  await expect(Array.fromAsync(record.rows())).rejects.toMatchObject({ code: 'unavailable' });
});
