import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rounds } from '../../../test/rounds.ts';
import { noFindings } from '../../domain/finding.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import {
  mergeRows,
  type PortRow,
  type ResultRow,
  rowIdentity,
  type SummaryRow,
  type VulnerabilityRow,
} from '../../domain/result.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import { compareAddresses } from '../../domain/targets/address.ts';
import type { ScanFolder } from '../scan-folder.ts';
import { openWorkspace } from '../workspace.ts';
import { readIndex, recordFiles } from './record-files.ts';
import { publishSteps, writeFinished } from './record-finish.ts';
import { mergedRows, recordSummary, tailRecord } from './record-reader.ts';
import { openRecord } from './record-writer.ts';
import { completeRow } from './row-line.ts';

const timestamp = '2026-10-06T14:30:24.010Z';
const scanId = '20261006-143022-a1b2c3';

let root: string;
let folder: ScanFolder;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'portolan-record-'));
  folder = (await openWorkspace(root)).scan(scanId);
  await folder.create(request());
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

function request(): ScanRequest {
  return scanRequest({
    scan_id: scanId,
    created_at: timestamp,
    targets: ['10.0.0.0/24'],
  });
}

function portRow(host: string, port: number, more: Partial<PortRow> = {}): PortRow {
  return { type: 'port', timestamp, host, port, protocol: 'tcp', state: 'open', reason: 'syn-ack', ...more };
}

function findingRow(host: string, port: number | null, id: string, evidence = ''): VulnerabilityRow {
  const protocol = port === null ? null : 'tcp';
  return {
    type: 'vulnerability',
    timestamp,
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

const summary: SummaryRow = {
  type: 'summary',
  timestamp,
  host: null,
  scan_id: scanId,
  status: 'completed',
  partial: false,
  live_hosts: 0,
  open_ports: 0,
  vulnerabilities: 0,
  addresses_scanned: 0,
  excluded: 0,
  severity_counts: noFindings(),
  duration_seconds: 1,
  catalogue_version: 'test',
};

async function record(rows: ResultRow[], blockSize = rows.length): Promise<void> {
  const writer = await openRecord(folder);
  for (const [index, row] of rows.entries()) {
    await writer.append(row);
    if ((index + 1) % blockSize === 0) await writer.seal();
  }
  await writer.close();
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function finish(): Promise<void> {
  const writer = await openRecord(folder);
  await writer.finish(summary);
}

describe('a growing record', () => {
  it('shows sealed rows only', async () => {
    const writer = await openRecord(folder, { sealMs: 60_000 });
    void writer.append(portRow('10.0.0.1', 22));
    await writer.seal();
    void writer.append(portRow('10.0.0.1', 80));
    expect(writer.rows).toBe(2);
    expect(await collect(mergedRows(folder))).toHaveLength(1);
    await writer.close();
    expect(await collect(mergedRows(folder))).toHaveLength(2);
  });

  it('seals by itself after sealMs and tells how many rows are durable', async () => {
    const sealed: number[] = [];
    const writer = await openRecord(folder, { sealMs: 5, onSealed: (rows) => sealed.push(rows) });
    void writer.append(portRow('10.0.0.1', 22));
    await expect.poll(() => sealed).toEqual([1]);
    await writer.close();
  });

  it('makes its caller wait while the disk is behind', async () => {
    const writer = await openRecord(folder);
    const banner = 'x'.repeat(1024 * 1024);
    const answers = Array.from({ length: 7 }, (_, i) => writer.append(portRow('10.0.0.1', i, { banner })));
    expect(answers[0]).toBeUndefined();
    expect(answers.at(-1)).toBeInstanceOf(Promise);
    await Promise.all(answers);
    await writer.close();
    expect(await collect(mergedRows(folder))).toHaveLength(7);
  });

  it('goes on where it was closed', async () => {
    await record([portRow('10.0.0.1', 22)]);
    const writer = await openRecord(folder);
    expect(writer.rows).toBe(1);
    expect(writer.finished).toBe(false);
    void writer.append(portRow('10.0.0.1', 80));
    await writer.close();
    expect((await tailRecord(folder, 0)).rows.map((row) => row.sequence)).toEqual([1, 2]);
  });

  it('refuses rows after close and after finish', async () => {
    const writer = await openRecord(folder);
    await writer.finish(summary);
    expect(() => writer.append(portRow('10.0.0.1', 22))).toThrow('finished');
    await expect(writer.finish(summary)).rejects.toThrow('finished');
    await writer.close();
    const reopened = await openRecord(folder);
    expect(reopened.finished).toBe(true);
    expect(reopened.rows).toBe(0);
    expect(() => reopened.append(portRow('10.0.0.1', 22))).toThrow('finished');
  });

  it('is empty before anything was recorded, and for a scan that is gone', async () => {
    expect(await collect(mergedRows(folder))).toEqual([]);
    expect(await recordSummary(folder)).toBeNull();
    expect(await tailRecord(folder, 0)).toEqual({ rows: [], finished: false });
    await folder.remove();
    expect(await collect(mergedRows(folder))).toEqual([]);
  });

  it('keeps one row one line, valid for strict readers', async () => {
    const banner = 'a\u2028b\u2029c\ud800d\\ud800\r\n\0';
    await record([portRow('10.0.0.1', 22, { banner })]);
    const text = await readFile(recordFiles(folder.path).data, 'utf8');
    expect(text.split(/\r\n|[\n\u2028\u2029\u0085]/)).toHaveLength(2);
    expect(text).not.toMatch(/[^\\]\\ud8/);
    expect(JSON.parse(text).banner).toBe('a\u2028b\u2029c\ufffdd\\ud800\r\n\0');
  });
});

describe('a torn tail', () => {
  const rows = [
    portRow('10.0.0.1', 22),
    portRow('10.0.0.1', 80),
    portRow('10.0.0.1', 443, { banner: 'hello' }),
  ];

  it('is cut at every byte of the last block and of its index line', async () => {
    await record(rows, 1);
    const files = recordFiles(folder.path);
    const [data, index] = [await readFile(files.data), await readFile(files.index)];
    const last = (await readIndex(files.index)).at(-1);
    const indexBefore = index.lastIndexOf('\n', index.length - 2) + 1;
    if (!last) throw new Error('no block');
    for (let size = last.offset; size < data.length; size++) {
      await writeFile(files.data, data.subarray(0, size));
      await writeFile(files.index, index);
      await expectRows(2);
    }
    for (let size = indexBefore; size < index.length; size++) {
      await writeFile(files.data, data);
      await writeFile(files.index, index.subarray(0, size));
      await expectRows(2);
    }
    await writeFile(files.data, data);
    await writeFile(files.index, index);
    await expectRows(3);
  });

  async function expectRows(count: number): Promise<void> {
    const seen = await collect(mergedRows(folder));
    expect(seen.slice(0, count)).toEqual(rows.slice(0, count).map((row) => completeRow(row)));
    const writer = await openRecord(folder);
    expect(writer.rows).toBe(count);
    await writer.close();
    const blocks = await readIndex(recordFiles(folder.path).index);
    expect(blocks).toHaveLength(count);
    expect((await tailRecord(folder, 0)).rows).toHaveLength(count);
  }

  it('of bytes that no index line covers is not read and is overwritten', async () => {
    await record(rows, 1);
    await appendFile(recordFiles(folder.path).data, '{"type":"port","ho');
    expect(await collect(mergedRows(folder))).toHaveLength(3);
    await record([portRow('10.0.0.2', 1)]);
    const lines = (await readFile(recordFiles(folder.path).data, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).host)).toEqual([
      '10.0.0.1',
      '10.0.0.1',
      '10.0.0.1',
      '10.0.0.2',
    ]);
  });

  it('of zeros, as a power cut leaves them, is cut', async () => {
    await record(rows, 1);
    const files = recordFiles(folder.path);
    const { length } = await readFile(files.data);
    await truncate(files.data, length - 10);
    await truncate(files.data, length);
    await truncate(files.index, (await readFile(files.index)).length + 100);
    await expectRows(2);
  });

  it('does not take damage in the middle for the end', async () => {
    await record(rows, 1);
    const files = recordFiles(folder.path);
    const data = await readFile(files.data);
    data[20] = 0x22;
    await writeFile(files.data, data);
    expect(await collect(mergedRows(folder))).toHaveLength(2);
    await finish();
    expect(await collect(mergedRows(folder))).toHaveLength(2);
  });
});

describe('a killed writer', () => {
  const kills = rounds(20, 8);

  it(`never loses an acknowledged row in ${kills} kills`, async () => {
    for (let round = 0; round < kills; round++) {
      const acknowledged = await appendUntilKilled(20 + Math.random() * 60);
      const { rows } = await tailEverything();
      expect(rows.length).toBeGreaterThanOrEqual(acknowledged);
      expect(rows.map((line) => JSON.parse(line).banner)).toEqual(rows.map((_, index) => `row ${index}`));
    }
    await finish();
    expect((await collect(mergedRows(folder))).length).toBeGreaterThan(0);
  }, 60_000);

  /** A real process that appends and says what is sealed; killed some time after its first word. */
  async function appendUntilKilled(ms: number): Promise<number> {
    const child = spawn(process.execPath, ['--input-type=module', '-e', appender()], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (text: Buffer) => {
      if (said === '') setTimeout(() => child.kill('SIGKILL'), ms);
      said += text.toString();
    });
    await once(child, 'close');
    const complete = said.slice(0, said.lastIndexOf('\n'));
    return Number(complete.slice(complete.lastIndexOf('\n') + 1));
  }

  function appender(): string {
    const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
    return `
      import { writeSync } from 'node:fs';
      import { openWorkspace } from ${module('../workspace.ts')};
      import { openRecord } from ${module('./record-writer.ts')};
      const folder = (await openWorkspace(${JSON.stringify(root)})).scan('${scanId}');
      const writer = await openRecord(folder, { sealMs: 2, onSealed: (rows) => writeSync(1, rows + '\\n') });
      for (let i = writer.rows; ; i++) {
        await writer.append({ type: 'port', timestamp: '${timestamp}', host: '10.0.0.1', port: i % 65536,
          protocol: 'tcp', state: 'open', reason: 'syn-ack', banner: 'row ' + i });
        if (i % 20 === 0) await new Promise(setImmediate);
      }`;
  }

  async function tailEverything(): Promise<{ rows: string[] }> {
    const rows: string[] = [];
    for (;;) {
      const next = await tailRecord(folder, rows.length);
      if (next.rows.length === 0) return { rows };
      rows.push(...next.rows.map((row) => row.line));
    }
  }
});

describe('a finished record', () => {
  it('has each identity once, sorted, and the summary as its last line', async () => {
    await record([
      portRow('10.0.0.10', 22),
      portRow('10.0.0.9', 443),
      portRow('10.0.0.9', 53, { protocol: 'udp' }),
      portRow('10.0.0.9', 53),
      findingRow('10.0.0.9', 443, 'CVE-2'),
      findingRow('10.0.0.9', 443, 'CVE-1'),
      findingRow('10.0.0.9', null, 'CVE-3'),
      { type: 'host', timestamp, host: '10.0.0.9', state: 'up' },
      portRow('2001:db8::1', 1),
      { type: 'error', timestamp, host: null, target: 'x', code: 'resolve_failed', message: 'm', node: null },
      portRow('10.0.0.9', 443, { banner: 'later' }),
    ]);
    const before = await collect(mergedRows(folder));
    await finish();
    expect(await collect(mergedRows(folder))).toEqual(before);
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
    expect(await recordSummary(folder)).toEqual(summary);
  });

  it('can be followed on by row number without gap or repetition', async () => {
    const rows = [
      portRow('10.0.0.2', 2),
      portRow('10.0.0.1', 1),
      portRow('10.0.0.2', 2, { banner: 'b' }),
      portRow('10.0.0.1', 3),
    ];
    await record(rows, 2);
    await finish();
    const seen = async (from: number) =>
      (await tailRecord(folder, from)).rows.map(({ sequence, line }) => [sequence, JSON.parse(line).port]);
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
    expect((await tailRecord(folder, 3)).finished).toBe(true);
  });

  it('is read in answers of at most 1000 rows', async () => {
    await record(
      Array.from({ length: 2500 }, (_, i) => portRow('10.0.0.1', i)),
      7,
    );
    expect((await tailRecord(folder, 0)).rows).toHaveLength(1000);
    expect((await tailRecord(folder, 2000)).rows[0]?.sequence).toBe(2001);
    await finish();
    expect(await tailRecord(folder, 0)).toMatchObject({ finished: false });
    const last = await tailRecord(folder, 2000);
    expect([last.rows.length, last.finished]).toEqual([500, true]);
  });

  it.each([0, 1, 2, 3])('is readable after a crash behind step %i of its publishing', async (steps) => {
    await record([portRow('10.0.0.2', 2), portRow('10.0.0.1', 1), portRow('10.0.0.2', 2, { banner: 'b' })]);
    const expected = (await collect(mergedRows(folder))).map((row) => rowIdentity(row));
    const files = recordFiles(folder.path);
    const { open } = await import('node:fs/promises');
    const data = await open(files.data);
    await writeFinished(files, data, await readIndex(files.index), summary);
    await data.close();
    for (const publish of publishSteps(files).slice(0, steps)) await publish();

    const readable = async () => {
      expect((await collect(mergedRows(folder))).map((row) => rowIdentity(row))).toEqual(expected);
      expect((await tailRecord(folder, 0)).rows.at(-1)?.sequence).toBe(3);
    };
    await readable();
    const writer = await openRecord(folder);
    expect(writer.finished).toBe(steps >= 2);
    await readable();
    if (!writer.finished) await writer.finish(summary);
    await readable();
    const { length } = await readFile(files.data);
    const last = (await readIndex(files.index)).at(-1);
    expect((last?.offset ?? 0) + (last?.length ?? 0)).toBe(length);
  });

  it('is read to its end when the scan is deleted meanwhile', async () => {
    await record(
      Array.from({ length: 20_000 }, (_, i) => portRow('10.0.0.1', i, { banner: 'x'.repeat(50) })),
    );
    await finish();
    let rows = 0;
    for await (const _ of mergedRows(folder)) if (++rows === 10) await folder.remove();
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
          await record(rows, size);
          const expected = naive(rows);
          expect(await collect(mergedRows(folder))).toEqual(expected);
          await finish();
          expect(await collect(mergedRows(folder))).toEqual(expected);
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
        .map(({ host, port, protocol, banner }) => portRow(host, port, { protocol, banner })),
      fc
        .record({ host, latency_ms: fc.option(fc.integer()), hostnames: fc.array(text, { maxLength: 2 }) })
        .map((fields) => ({ type: 'host' as const, timestamp, state: 'up' as const, ...fields })),
      fc
        .record({ host, port: fc.option(port), id: fc.constantFrom('A', 'B', 'C'), evidence: text })
        .map(({ host, port, id, evidence }) => findingRow(host, port, id, evidence)),
      fc
        .record({ target: fc.option(text), code: fc.constantFrom('a', 'b'), message: text })
        .map((fields) => ({ type: 'error' as const, timestamp, host: null, node: null, ...fields })),
    );
  }

  function naive(rows: ResultRow[]): ResultRow[] {
    const merged = new Map<string, ResultRow>();
    for (const row of rows) {
      const before = merged.get(rowIdentity(row));
      merged.set(rowIdentity(row), before ? mergeRows(before, row) : row);
    }
    const kinds = [...merged.values()].map((row) => completeRow(row));
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
