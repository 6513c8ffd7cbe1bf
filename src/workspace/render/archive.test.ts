import { appendFile, mkdir, mkdtemp, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { port, summary } from '../../../test/result-rows.ts';
import { openRecord } from '../record/record-writer.ts';
import { ScanFolder } from '../scan-folder.ts';
import { archiveScan } from './archive.ts';

const scanId = '20261006-143022-a1b2c3';
let root = '';
let folder: ScanFolder;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'portolan-archive-'));
  folder = new ScanFolder(join(root, scanId));
  await mkdir(folder.reportsDir, { recursive: true });
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function collect(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of archiveScan(folder)) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

async function unpacked(archive?: Buffer) {
  const entries = await unpackTar(gunzipSync(archive ?? (await collect())), { strict: true });
  return new Map(
    entries.map(({ header, data }) => [header.name, { header, text: Buffer.from(data ?? []).toString() }]),
  );
}

describe('the archive of a scan', () => {
  it('holds every file below the id of the scan, with its time, for its owner only', async () => {
    const mtime = new Date('2026-10-06T14:31:40Z');
    await writeFile(join(folder.path, 'request.json'), '{"a":1}', { mode: 0o644 });
    await utimes(join(folder.path, 'request.json'), mtime, mtime);
    await writeFile(join(folder.reportsDir, 'results.json'), 'ü'.repeat(100_000));
    const deep = join(folder.path, 'artifacts', 'n'.repeat(120));
    await mkdir(deep, { recursive: true });
    await writeFile(join(deep, `${'x'.repeat(200)} "ü\n.txt`), 'long');
    const files = await unpacked();
    for (const name of files.keys()) expect(name.startsWith(`${scanId}/`)).toBe(true);
    expect(files.get(`${scanId}/request.json`)).toMatchObject({
      text: '{"a":1}',
      header: { mode: 0o600, mtime, type: 'file' },
    });
    expect(files.get(`${scanId}/reports/results.json`)?.text).toBe('ü'.repeat(100_000));
    expect(files.get(`${scanId}/artifacts/${basename(deep)}/${'x'.repeat(200)} "ü\n.txt`)?.text).toBe('long');
    expect(files.get(`${scanId}/reports/`)).toMatchObject({ header: { mode: 0o700, type: 'directory' } });
  });

  it('follows no link and leaves out drafts', async () => {
    await writeFile(join(root, 'secret'), 'secret');
    await mkdir(join(root, 'elsewhere'));
    await writeFile(join(root, 'elsewhere', 'secret'), 'secret');
    await symlink(join(root, 'secret'), join(folder.path, 'link'));
    await symlink(join(root, 'elsewhere'), join(folder.path, 'folder-link'));
    await writeFile(join(folder.path, 'status.json.0123456789ab.tmp'), 'half');
    await writeFile(join(folder.path, 'results.jsonl.new'), 'half');
    await writeFile(join(folder.reportsDir, 'results.json.part'), 'half');
    expect([...(await unpacked()).keys()]).toEqual([`${scanId}/`, `${scanId}/reports/`]);
  });

  it.each([
    ['grows', (file: string) => appendFile(file, 'more'.repeat(100_000)), 8_000_000],
    ['shrinks', (file: string) => truncate(file, 10), 8_000_000],
  ])('stays whole when a file %s while it is read', async (_what, change, size) => {
    const file = join(folder.path, 'a-large-file');
    // Incompressible: the reader below makes the writer wait in the middle of the file.
    const bytes = Buffer.alloc(size);
    for (let place = 0; place < size; place += 4)
      bytes.writeUInt32LE((Math.imul(place, 2_654_435_761) ^ place) >>> 0, place);
    await writeFile(file, bytes);
    await writeFile(join(folder.path, 'behind'), 'behind');
    const pieces: Buffer[] = [];
    let isChanged = false;
    for await (const piece of archiveScan(folder)) {
      pieces.push(piece as Buffer);
      // So many bytes are of that file.
      if (isChanged || Buffer.concat(pieces).length < 100_000) continue;
      isChanged = true;
      await change(file);
    }
    expect(isChanged).toBe(true);
    const files = await unpacked(Buffer.concat(pieces));
    expect(files.get(`${scanId}/a-large-file`)?.header.size).toBe(size);
    expect(files.get(`${scanId}/behind`)?.text).toBe('behind');
  });

  it('ends the record of a running scan with its last sealed row', async () => {
    const record = await openRecord(folder);
    await record.append(port(22));
    await record.seal();
    await appendFile(join(folder.path, 'results.jsonl'), '{"type":"port","half');
    const text = (await unpacked()).get(`${scanId}/results.jsonl`)?.text ?? '';
    expect(text.split('\n').map((line) => line && JSON.parse(line).port)).toEqual([22, '']);
    await record.finish(summary);
    expect((await unpacked()).get(`${scanId}/results.jsonl`)?.text).toContain('"type":"summary"');
  });

  it('of a scan that is deleted meanwhile is whole, with what was read', async () => {
    const size = 12_000_000;
    await writeFile(join(folder.path, 'a-large-file'), Buffer.alloc(size, 'x'));
    for (let index = 0; index < 50; index++) await writeFile(join(folder.path, `file-${index}`), 'x');
    const pieces: Buffer[] = [];
    for await (const piece of archiveScan(folder)) {
      if (pieces.length === 0) await folder.remove();
      pieces.push(piece as Buffer);
    }
    const files = await unpacked(Buffer.concat(pieces));
    expect(files.get(`${scanId}/a-large-file`)?.text.length).toBe(size);
  });

  it('of a scan that is gone is an empty archive', async () => {
    await folder.remove();
    expect((await unpacked()).size).toBe(0);
  });

  it('lets go of its files when the reader goes away', async () => {
    await writeFile(join(folder.path, 'a-large-file'), Buffer.alloc(64 * 1024 * 1024, 'y'));
    const openFiles = async () => {
      const { readdir, readlink } = await import('node:fs/promises');
      const handles = await readdir('/proc/self/fd');
      const paths = await Promise.all(
        handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => '')),
      );
      return paths.filter((path) => path.startsWith(folder.path)).length;
    };
    for await (const _piece of archiveScan(folder)) break;
    await expect.poll(openFiles).toBe(0);
  });
});
