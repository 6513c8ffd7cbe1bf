import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorkspace } from '../../src/workspace/workspace.ts';
import { type BigResult, writeBigRecord } from '../big-result.ts';
import { residentBytes, ServerProcess } from '../program.ts';
import { rounds } from '../rounds.ts';

/** The bars of the case. */
const memoryBar = 100 * 1024 * 1024;
/**
 * What a server may have read of a record when the first byte leaves, as a share of it: rows flow at once, other files
 * after the record has been verified, once, and a report begins with what all rows add up to. What sockets take in
 * advance comes to it.
 */
const readBar = { rows: 0.1, file: 1.5, report: 2.5 };

/** Of 1,000,000 findings in a long run: rows of 100 MB, some 300 MB in memory, are enough to show what is not streamed. */
const big = { hosts: rounds(1000, 250), portsPerHost: 10, findingsPerPort: 100 };
const tenth = { ...big, hosts: rounds(100, 50) };
const findingsOf = ({ hosts, portsPerHost, findingsPerPort }: BigResult) =>
  hosts * portsPerHost * findingsPerPort;

const server = new ServerProcess();
const scanIds = new Map<BigResult, string>();
const recordBytes = new Map<BigResult, number>();
let baseline = 0;

beforeAll(async () => {
  await server.start();
  const workspace = await openWorkspace(server.workspace);
  for (const size of [tenth, big]) {
    const scanId = await server.submit({ targets: ['127.0.0.1'], ports: '9', options: { discover: false } });
    await server.waitForEnd(scanId);
    // Small scans first: what the program loads once is no growth.
    for (const format of formats) await (await download(scanId, format)).end();
    const { path } = workspace.scan(scanId);
    await writeBigRecord(path, size);
    recordBytes.set(size, statSync(join(path, 'results.jsonl')).size);
    scanIds.set(size, scanId);
  }
  baseline = residentBytes(server.pid);
});
afterAll(() => server.dispose());

const formats = ['json', 'jsonl', 'csv', 'html', 'nmap', 'sarif', 'tar.gz'];

/** Bytes that the server has read so far, of files and of sockets. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${server.pid}/io`, 'utf8'))?.[1]);
}

async function download(scanId: string, format: string) {
  const startedAt = performance.now();
  const before = bytesRead();
  const [answer] = (await once(
    get(`${server.url}/api/v1/workspace/scans/${scanId}/export?format=${format}`),
    'response',
  )) as [IncomingMessage];
  const read = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const first = await read.next();
  return {
    answer,
    firstByteMs: performance.now() - startedAt,
    /** What the server had read when the first byte was here. */
    readBefore: bytesRead() - before,
    /** Reads to the end; counts the bytes and how often `mark` occurs, and watches the server's memory. */
    async end(mark = Buffer.from('\0')) {
      let bytes = 0;
      let marks = 0;
      let peak = 0;
      let rest: Buffer = Buffer.alloc(0);
      const watch = setInterval(() => {
        peak = Math.max(peak, residentBytes(server.pid));
      }, 50);
      for (let next = first; !next.done; next = await read.next()) {
        bytes += next.value.length;
        const text = Buffer.concat([rest, next.value]);
        for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) marks += 1;
        // Shorter than the mark: it is counted once even when it is cut in two.
        rest = text.subarray(Math.max(0, text.length - mark.length + 1));
      }
      clearInterval(watch);
      return { bytes, marks, peak, seconds: (performance.now() - startedAt) / 1000 };
    },
  };
}

async function measure(size: BigResult, format: string, mark: string) {
  const file = await download(scanIds.get(size) as string, format);
  const { bytes, marks, peak, seconds } = await file.end(Buffer.from(mark));
  const growth = peak - baseline;
  console.log(
    `${findingsOf(size)} findings as ${format}: first byte after ${file.firstByteMs.toFixed(0)} ms and ` +
      `${(file.readBefore / 1e6).toFixed(1)} MB read, ` +
      `${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s, memory +${(growth / 2 ** 20).toFixed(0)} MiB`,
  );
  return { marks, growth, readShare: file.readBefore / (recordBytes.get(size) as number) };
}

/** Handles that the server holds on the record of a scan. */
function openRecords(scanId: string): number {
  const folder = `/proc/${server.pid}/fd`;
  const paths = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(join(folder, name));
    } catch {
      return '';
    }
  });
  return paths.filter((path) => path.includes(`${scanId}/results`)).length;
}

describe('a big result', () => {
  it.each([
    ['json', '"severity":"'],
    ['jsonl', '"type":"vulnerability"'],
    ['csv', 'CVE-2026-'],
  ])(
    `of ${findingsOf(big)} findings leaves as %s without filling the memory`,
    async (format, mark) => {
      const { marks, growth, readShare } = await measure(big, format, mark);
      expect(marks).toBe(findingsOf(big));
      expect(readShare).toBeLessThanOrEqual(readBar.rows);
      expect(growth).toBeLessThanOrEqual(memoryBar);
    },
    300_000,
  );

  it.each([
    // Equal findings stand once with each host, and once with their fix.
    ['html', 'href="#f-CVE-2026-', (tenth.hosts + 1) * tenth.findingsPerPort],
    ['nmap', '<table key="CVE-2026-', findingsOf(tenth)],
    ['sarif', '"ruleId":"', findingsOf(tenth)],
    ['tar.gz', '\x1f\x8b\x08', null],
  ])(
    'leaves as %s without filling the memory',
    async (format, mark, expected) => {
      const { marks, growth, readShare } = await measure(tenth, format, mark);
      if (expected !== null) expect(marks).toBe(expected);
      expect(readShare).toBeLessThanOrEqual(format === 'html' ? readBar.report : readBar.file);
      expect(growth).toBeLessThanOrEqual(memoryBar);
    },
    180_000,
  );

  it.each(formats)('is let go of when the client of %s goes away', async (format) => {
    const scanId = scanIds.get(['json', 'jsonl', 'csv'].includes(format) ? big : tenth) as string;
    const clients = await Promise.all(Array.from({ length: 5 }, () => download(scanId, format)));
    await expect.poll(() => openRecords(scanId)).toBeGreaterThan(0);
    for (const { answer } of clients) answer.destroy();
    await expect.poll(() => openRecords(scanId)).toBe(0);
    expect(residentBytes(server.pid) - baseline).toBeLessThanOrEqual(memoryBar);
  });
});
