import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rounds } from '../../../test/rounds.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { PortRow } from '../../domain/result.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import type { ScanFolder } from '../scan-folder.ts';
import { openWorkspace } from '../workspace.ts';
import {
  collectItems,
  finishWithSummary,
  openPortRow,
  recordedScanId,
  recordRows,
  rowTime,
} from './fixtures/record-rows.ts';
import { recordIn } from './folder-record.ts';
import { readIndex, recordFiles } from './record-files.ts';
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

describe('a torn tail', () => {
  const rows = [
    openPortRow('10.0.0.1', 22),
    openPortRow('10.0.0.1', 80),
    openPortRow('10.0.0.1', 443, { banner: 'hello' }),
  ];

  it('is cut at every byte of the last block and of its index line', async () => {
    await recordRows(folder, rows, 1);
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
    const seen = await collectItems(recordIn(folder).rows());
    expect(seen.slice(0, count)).toEqual(rows.slice(0, count).map((row) => completeRow(row)));
    const writer = await openRecord(folder);
    expect(writer.rows).toBe(count);
    await writer.close();
    const blocks = await readIndex(recordFiles(folder.path).index);
    expect(blocks).toHaveLength(count);
    expect((await recordIn(folder).rowsAfter(0)).rows).toHaveLength(count);
  }

  it('of bytes that no index line covers is not read and is overwritten', async () => {
    await recordRows(folder, rows, 1);
    await appendFile(recordFiles(folder.path).data, '{"type":"port","ho');
    expect(await collectItems(recordIn(folder).rows())).toHaveLength(3);
    await recordRows(folder, [openPortRow('10.0.0.2', 1)]);
    const lines = (await readFile(recordFiles(folder.path).data, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).host)).toEqual([
      '10.0.0.1',
      '10.0.0.1',
      '10.0.0.1',
      '10.0.0.2',
    ]);
  });

  it('of zeros, as a power cut leaves them, is cut', async () => {
    await recordRows(folder, rows, 1);
    const files = recordFiles(folder.path);
    const { length } = await readFile(files.data);
    await truncate(files.data, length - 10);
    await truncate(files.data, length);
    await truncate(files.index, (await readFile(files.index)).length + 100);
    await expectRows(2);
  });

  it('does not take damage in the middle for the end', async () => {
    await recordRows(folder, rows, 1);
    const files = recordFiles(folder.path);
    const data = await readFile(files.data);
    data[20] = 0x22;
    await writeFile(files.data, data);
    expect(await collectItems(recordIn(folder).rows())).toHaveLength(2);
    await finishWithSummary(folder);
    expect(await collectItems(recordIn(folder).rows())).toHaveLength(2);
  });
});

describe('blocks that were not synced', () => {
  const first = [openPortRow('10.0.0.1', 1), openPortRow('10.0.0.1', 2)];
  const then = [openPortRow('10.0.0.1', 3), openPortRow('10.0.0.1', 4), openPortRow('10.0.0.1', 5)];

  /** As after a power cut: the disk has what was written in any order. */
  async function loseBlock(number: number): Promise<void> {
    const { data, index } = recordFiles(folder.path);
    const block = (await readIndex(index))[number];
    if (!block) throw new Error('no such block');
    const bytes = await readFile(data);
    await writeFile(data, bytes.fill(0, block.offset, block.offset + block.length));
  }

  it.each([2, 3, 4])('are cut from the first one that is lost, here block %i', async (lost) => {
    await recordRows(folder, first, 1);
    await recordRows(folder, then, 1, { isDurable: false });
    await loseBlock(lost);
    const writer = await openRecord(folder);
    expect(writer.rows).toBe(lost);
    await writer.append(openPortRow('10.0.0.2', 1));
    await writer.close();
    const ports = await collectItems(recordIn(folder).rows());
    expect(ports.map((row) => (row as PortRow).port)).toEqual([...[1, 2, 3, 4, 5].slice(0, lost), 1]);
  });

  it('are synced when the record is opened again', async () => {
    await recordRows(folder, first, 1, { isDurable: false });
    await recordRows(folder, then, 1);
    await loseBlock(1);
    const writer = await openRecord(folder);
    // Damage in the middle is not the end.
    expect(writer.rows).toBe(5);
    await writer.close();
  });
});

describe('a killed writer', () => {
  const kills = rounds(20, 3);

  it(`never loses an acknowledged row in ${kills} kills`, async () => {
    for (let round = 0; round < kills; round++) {
      const acknowledged = await appendUntilKilled(20 + Math.random() * 60);
      const { rows } = await tailEverything();
      expect(rows.length).toBeGreaterThanOrEqual(acknowledged);
      expect(rows.map((line) => JSON.parse(line).banner)).toEqual(rows.map((_, index) => `row ${index}`));
    }
    await finishWithSummary(folder);
    expect((await collectItems(recordIn(folder).rows())).length).toBeGreaterThan(0);
  });

  /** A real process that appends and reports sealed rows; killed some time after its first report. */
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
      const folder = (await openWorkspace(${JSON.stringify(root)})).scan('${recordedScanId}');
      const writer = await openRecord(folder, { sealMs: 2, onSealed: (rows) => writeSync(1, rows + '\\n') });
      for (let i = writer.rows; ; i++) {
        await writer.append({ type: 'port', timestamp: '${rowTime}', host: '10.0.0.1', port: i % 65536,
          protocol: 'tcp', state: 'open', reason: 'syn-ack', banner: 'row ' + i });
        if (i % 20 === 0) await new Promise(setImmediate);
      }`;
  }

  async function tailEverything(): Promise<{ rows: string[] }> {
    const rows: string[] = [];
    for (;;) {
      const next = await recordIn(folder).rowsAfter(rows.length);
      if (next.rows.length === 0) return { rows };
      rows.push(...next.rows.map((row) => row.line));
    }
  }
});
