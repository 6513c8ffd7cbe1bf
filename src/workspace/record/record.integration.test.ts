import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import { mergeRows } from '../../domain/merge-rows.ts';
import { type ResultRow, rowIdentity, type VulnerabilityRow } from '../../domain/result.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import { compareAddresses } from '../../domain/targets/address.ts';
import type { ScanFolder } from '../scan-folder.ts';
import { openWorkspace } from '../workspace.ts';
import {
  collectItems,
  finishWithSummary,
  openPortRow,
  recordedScanId,
  recordRows,
  rowTime,
  summaryRow,
} from './fixtures/record-rows.ts';
import { recordIn } from './folder-record.ts';
import { readIndex, recordFiles } from './record-files.ts';
import { publishSteps, writeFinished } from './record-finish.ts';
import { openRecord } from './record-writer.ts';
import { completeRow } from './row-line.ts';

let root: string;
let folder: ScanFolder;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'portolan-record-'));
  folder = (await openWorkspace(root)).scan(recordedScanId);
  await folder.create(request());
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

function request(): ScanRequest {
  return scanRequest({
    scan_id: recordedScanId,
    created_at: rowTime,
    targets: ['10.0.0.0/24'],
  });
}

function findingRow(host: string, port: number | null, id: string, evidence = ''): VulnerabilityRow {
  const protocol = port === null ? null : 'tcp';
  return {
    type: 'vulnerability',
    timestamp: rowTime,
    host,
    port,
    protocol,
    vulnerability: {
      id,
      title: id,
      severity: 'high',
      cvss: null,
      kev: false,
      epss: null,
      cpe: null,
      affected: null,
      detected: null,
      confidence: 1,
      backport_note: null,
      class: 'likely',
      evidence,
      remediation: '',
      references: [],
      plugin: 'test',
    },
  };
}

describe('a growing record', () => {
  it('shows sealed rows only', async () => {
    const writer = await openRecord(folder, { sealMs: 60_000 });
    void writer.append(openPortRow('10.0.0.1', 22));
    await writer.seal();
    void writer.append(openPortRow('10.0.0.1', 80));
    expect(writer.rows).toBe(2);
    expect(await collectItems(recordIn(folder).rows())).toHaveLength(1);
    await writer.close();
    expect(await collectItems(recordIn(folder).rows())).toHaveLength(2);
  });

  it('seals by itself after sealMs and tells how many rows are durable', async () => {
    const sealed: number[] = [];
    const writer = await openRecord(folder, { sealMs: 5, onSealed: (rows) => sealed.push(rows) });
    void writer.append(openPortRow('10.0.0.1', 22));
    await expect.poll(() => sealed).toEqual([1]);
    await writer.close();
  });

  it('makes its caller wait while the disk is behind', async () => {
    const writer = await openRecord(folder);
    const banner = 'x'.repeat(1024 * 1024);
    const responses = Array.from({ length: 7 }, (_, i) =>
      writer.append(openPortRow('10.0.0.1', i, { banner })),
    );
    expect(responses[0]).toBeUndefined();
    expect(responses.at(-1)).toBeInstanceOf(Promise);
    await Promise.all(responses);
    await writer.close();
    expect(await collectItems(recordIn(folder).rows())).toHaveLength(7);
  });

  it('takes the rows of a block as they are, and has no larger blocks for it: small ones together, others as they are', async () => {
    const writer = await openRecord(folder, { sealMs: 60_000 });
    const rows = Array.from({ length: 9000 }, (_, at) => openPortRow('10.0.0.1', at + 1));
    void writer.append(rows[0] as ResultRow);
    for (let from = 1, count = 0; from < rows.length; from += count) {
      count = from < 6000 ? 100 : 2000;
      const lines = rows.slice(from, from + count).map((row) => ` ${JSON.stringify(row)}\n`);
      await writer.appendLines(Buffer.from(lines.join('')), lines.length);
    }
    expect(writer.rows).toBe(9000);
    await writer.close();
    expect(await collectItems(recordIn(folder).rows())).toEqual(rows.map(completeRow));
    const blocks = await readIndex(recordFiles(folder.path).index);
    expect(blocks.map((block) => block.rows)).toEqual([4901, 1100, 2000, 999]);
  });

  it('goes on where it was closed', async () => {
    await recordRows(folder, [openPortRow('10.0.0.1', 22)]);
    const writer = await openRecord(folder);
    expect(writer.rows).toBe(1);
    expect(writer.finished).toBe(false);
    void writer.append(openPortRow('10.0.0.1', 80));
    await writer.close();
    expect((await recordIn(folder).rowsAfter(0)).rows.map((row) => row.sequence)).toEqual([1, 2]);
  });

  it('refuses rows after close and after finish', async () => {
    const writer = await openRecord(folder);
    await writer.finish(summaryRow);
    expect(() => writer.append(openPortRow('10.0.0.1', 22))).toThrow('finished');
    await expect(writer.finish(summaryRow)).rejects.toThrow('finished');
    await writer.close();
    const reopened = await openRecord(folder);
    expect(reopened.finished).toBe(true);
    expect(reopened.rows).toBe(0);
    expect(() => reopened.append(openPortRow('10.0.0.1', 22))).toThrow('finished');
  });

  it('is empty before anything was recorded, and for a scan that is gone', async () => {
    expect(await collectItems(recordIn(folder).rows())).toEqual([]);
    expect(await recordIn(folder).summary()).toBeNull();
    expect(await recordIn(folder).rowsAfter(0)).toEqual({ rows: [], finished: false });
    await folder.remove();
    expect(await collectItems(recordIn(folder).rows())).toEqual([]);
  });

  it('keeps one row one line, valid for strict readers', async () => {
    const banner = 'a\u2028b\u2029c\ud800d\\ud800\r\n\0';
    await recordRows(folder, [openPortRow('10.0.0.1', 22, { banner })]);
    const text = await readFile(recordFiles(folder.path).data, 'utf8');
    expect(text.split(/\r\n|[\n\u2028\u2029\u0085]/)).toHaveLength(2);
    expect(text).not.toMatch(/[^\\]\\ud8/);
    expect(JSON.parse(text).banner).toBe('a\u2028b\u2029c\ufffdd\\ud800\r\n\0');
  });
});

describe('a finished record', () => {
  it('has each identity once, sorted, and the summary as its last line', async () => {
    await recordRows(folder, [
      openPortRow('10.0.0.10', 22),
      openPortRow('10.0.0.9', 443),
      openPortRow('10.0.0.9', 53, { protocol: 'udp' }),
      openPortRow('10.0.0.9', 53),
      findingRow('10.0.0.9', 443, 'CVE-2'),
      findingRow('10.0.0.9', 443, 'CVE-1'),
      findingRow('10.0.0.9', null, 'CVE-3'),
      { type: 'host', timestamp: rowTime, host: '10.0.0.9', state: 'up' },
      openPortRow('2001:db8::1', 1),
      {
        type: 'error',
        timestamp: rowTime,
        host: null,
        target: 'x',
        code: 'resolve_failed',
        message: 'm',
        node: null,
      },
      openPortRow('10.0.0.9', 443, { banner: 'later' }),
    ]);
    const before = await collectItems(recordIn(folder).rows());
    await finishWithSummary(folder);
    expect(await collectItems(recordIn(folder).rows())).toEqual(before);
    const lines = (await readFile(recordFiles(folder.path).data, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => rowIdentity(JSON.parse(line)))).toEqual([
      'e x resolve_failed ',
      'h 10.0.0.9',
      'p 10.0.0.9 53 tcp',
      'p 10.0.0.9 53 udp',
      'p 10.0.0.9 443 tcp',
      'v 10.0.0.9 443 tcp CVE-1',
      'v 10.0.0.9 443 tcp CVE-2',
      'v 10.0.0.9   CVE-3',
      'p 10.0.0.10 22 tcp',
      'p 2001:db8::1 1 tcp',
      's',
    ]);
    expect(JSON.parse(lines[4] as string).banner).toBe('later');
    expect(await recordIn(folder).summary()).toEqual(summaryRow);
  });

  it('has extra rows by key behind the errors, each value once', async () => {
    const extra = (key: string, value: unknown, host: string | null = null): ResultRow => ({
      type: 'extra',
      timestamp: rowTime,
      host,
      key,
      value,
    });
    const error: ResultRow = {
      type: 'error',
      timestamp: rowTime,
      host: null,
      target: 'x',
      code: 'c',
      message: 'm',
      node: null,
    };
    const extras = [extra('b', { x: 1 }), extra('a', 'z'), extra('b', { x: 0 }, '10.0.0.9'), extra('a', 'y')];
    await recordRows(folder, [openPortRow('10.0.0.1', 22), ...extras, error, ...extras]);
    const keys = (rows: ResultRow[]) =>
      rows.map((row) => (row.type === 'extra' ? `${row.key} ${JSON.stringify(row.value)}` : row.type));
    const expected = ['error', 'b {"x":1}', 'b {"x":0}', 'a "z"', 'a "y"', 'port'];
    expect(keys(await collectItems(recordIn(folder).rows()))).toEqual(expected);
    await finishWithSummary(folder);
    expect(keys(await collectItems(recordIn(folder).rows()))).toEqual([...expected]);
  });

  it('can be followed on by row number without gap or repetition', async () => {
    const rows = [
      openPortRow('10.0.0.2', 2),
      openPortRow('10.0.0.1', 1),
      openPortRow('10.0.0.2', 2, { banner: 'b' }),
      openPortRow('10.0.0.1', 3),
    ];
    await recordRows(folder, rows, 2);
    await finishWithSummary(folder);
    const seen = async (from: number) =>
      (await recordIn(folder).rowsAfter(from)).rows.map(({ sequence, line }) => [
        sequence,
        JSON.parse(line).port,
      ]);
    expect(await seen(0)).toEqual([
      [2, 1],
      [3, 2],
      [4, 3],
    ]);
    expect(await seen(2)).toEqual([
      [3, 2],
      [4, 3],
    ]);
    expect(await seen(4)).toEqual([]);
    expect((await recordIn(folder).rowsAfter(3)).finished).toBe(true);
  });

  it('is read in answers of at most 1000 rows', async () => {
    await recordRows(
      folder,
      Array.from({ length: 2500 }, (_, i) => openPortRow('10.0.0.1', i)),
      7,
    );
    expect((await recordIn(folder).rowsAfter(0)).rows).toHaveLength(1000);
    expect((await recordIn(folder).rowsAfter(2000)).rows[0]?.sequence).toBe(2001);
    await finishWithSummary(folder);
    expect(await recordIn(folder).rowsAfter(0)).toMatchObject({ finished: false });
    const last = await recordIn(folder).rowsAfter(2000);
    expect([last.rows.length, last.finished]).toEqual([500, true]);
  });

  it.each([0, 1, 2, 3])('is readable after a crash behind step %i of its publishing', async (steps) => {
    await recordRows(folder, [
      openPortRow('10.0.0.2', 2),
      openPortRow('10.0.0.1', 1),
      openPortRow('10.0.0.2', 2, { banner: 'b' }),
    ]);
    const expected = (await collectItems(recordIn(folder).rows())).map((row) => rowIdentity(row));
    const files = recordFiles(folder.path);
    const { open } = await import('node:fs/promises');
    const data = await open(files.data);
    await writeFinished(files, data, await readIndex(files.index), summaryRow);
    await data.close();
    for (const publish of publishSteps(files).slice(0, steps)) await publish();

    const readable = async () => {
      expect((await collectItems(recordIn(folder).rows())).map((row) => rowIdentity(row))).toEqual(expected);
      expect((await recordIn(folder).rowsAfter(0)).rows.at(-1)?.sequence).toBe(3);
    };
    await readable();
    const writer = await openRecord(folder);
    expect(writer.finished).toBe(steps >= 2);
    await readable();
    if (!writer.finished) await writer.finish(summaryRow);
    await readable();
    const { length } = await readFile(files.data);
    const last = (await readIndex(files.index)).at(-1);
    expect((last?.offset ?? 0) + (last?.length ?? 0)).toBe(length);
  });

  it('is read to its end when the scan is deleted meanwhile', async () => {
    await recordRows(
      folder,
      Array.from({ length: 20_000 }, (_, i) => openPortRow('10.0.0.1', i, { banner: 'x'.repeat(50) })),
    );
    await finishWithSummary(folder);
    let rows = 0;
    for await (const _ of recordIn(folder).rows()) if (++rows === 10) await folder.remove();
    expect(rows).toBe(20_000);
  });

  it('equals the naive model for any rows in any blocks', async () => {
    const pristine = `${folder.path}-pristine`;
    await cp(folder.path, pristine, { recursive: true });
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyRow(), { maxLength: 40 }),
        fc.integer({ min: 1, max: 10 }),
        async (rows, size) => {
          await rm(folder.path, { recursive: true, force: true });
          await cp(pristine, folder.path, { recursive: true });
          await recordRows(folder, rows, size);
          const expected = naive(rows);
          expect(await collectItems(recordIn(folder).rows())).toEqual(expected);
          await finishWithSummary(folder);
          expect(await collectItems(recordIn(folder).rows())).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  function anyRow(): fc.Arbitrary<ResultRow> {
    const host = fc.constantFrom('10.0.0.1', '10.0.0.2', '9.255.0.1', '::1', 'fe80::1%lo', '100.0.0.1');
    const text = fc.string({ unit: 'binary', maxLength: 8 }).map((value) => value.toWellFormed());
    const port = fc.constantFrom(0, 1, 22, 80, 443, 65535);
    return fc.oneof(
      fc
        .record({
          host,
          port,
          protocol: fc.constantFrom('tcp' as const, 'udp' as const),
          banner: fc.option(text),
        })
        .map(({ host, port, protocol, banner }) => openPortRow(host, port, { protocol, banner })),
      fc
        .record({ host, latency_ms: fc.option(fc.integer()), hostnames: fc.array(text, { maxLength: 2 }) })
        .map((fields) => ({ type: 'host' as const, timestamp: rowTime, state: 'up' as const, ...fields })),
      fc
        .record({ host, port: fc.option(port), id: fc.constantFrom('A', 'B', 'C'), evidence: text })
        .map(({ host, port, id, evidence }) => findingRow(host, port, id, evidence)),
      fc
        .record({ target: fc.option(text), code: fc.constantFrom('a', 'b'), message: text })
        .map((fields) => ({ type: 'error' as const, timestamp: rowTime, host: null, node: null, ...fields })),
    );
  }

  function naive(rows: ResultRow[]): ResultRow[] {
    const merged = [...Map.groupBy(rows, rowIdentity).values()].flatMap((same) => mergeRows(same) ?? []);
    const kinds = merged.map((row) => completeRow(row));
    const errors = kinds.filter((row) => row.type === 'error');
    return [...errors, ...kinds.filter((row) => row.type !== 'error').sort(naiveOrder)];
  }

  function naiveOrder(a: ResultRow, b: ResultRow): number {
    const place = (row: ResultRow): [number, string, number, string] => {
      if (row.type === 'port') return [row.port, row.protocol, 0, ''];
      if (row.type === 'vulnerability')
        return [row.port ?? 70_000, row.protocol ?? '', 1, row.vulnerability.id];
      return [-1, '', 0, ''];
    };
    const [left, right] = [place(a), place(b)];
    const byHost = compareAddresses(a.host ?? '', b.host ?? '');
    if (byHost !== 0) return byHost;
    for (const [index, value] of left.entries()) {
      const other = right[index] as typeof value;
      if (value !== other) return value < other ? -1 : 1;
    }
    return 0;
  }
});
