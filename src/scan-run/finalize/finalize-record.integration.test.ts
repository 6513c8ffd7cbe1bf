import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { storeScan } from '../../actions/fixtures/stored-scan.ts';
import { openStore } from '../../store/open.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { finalizeRecord } from './finalize-record.ts';

const both = { compress: true, keep_artifacts: true };
const ports = 1500;

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-settle-'));
});

afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function finishedScan(): Promise<ScanFolder> {
  const workspace = await openWorkspace(dir);
  const store = await openStore(workspace.storeFile);
  const folder = await storeScan({ store, workspace }, 1, ports);
  await store.close();
  return folder;
}

/** A process that finalizes the record; killed after so many milliseconds. */
async function finalizeAndDie(path: string, afterMs: number): Promise<void> {
  const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  const source = `
    import { finalizeRecord } from ${module('./finalize-record.ts')};
    import { ScanFolder } from ${module('../../workspace/scan-folder.ts')};
    process.stdout.write('begun');
    await finalizeRecord(new ScanFolder(${JSON.stringify(path)}), ${JSON.stringify(both)});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  await sleep(afterMs);
  child.kill('SIGKILL');
  await ended;
}

it('killed at any moment it loses nothing, and the next call brings it to its end', async () => {
  const folder = await finishedScan();
  const plain = await readFile(join(folder.path, 'results.jsonl'));
  for (const afterMs of [0, 15, 40, 90, 150, 220, 300, 400]) {
    await finalizeAndDie(folder.path, afterMs);
    let rows = 0;
    for await (const _ of recordIn(folder).rows()) rows++;
    expect(rows).toBe(ports);
  }
  expect(await finalizeRecord(folder, both)).toEqual([]);
  expect(execFileSync('zcat', [join(folder.path, 'results.jsonl.gz')]).equals(plain)).toBe(true);
  expect((await readdir(folder.path)).sort()).toEqual([
    'artifacts',
    'reports',
    'request.json',
    'results.jsonl.gz',
    'results.members',
    'results.sequence',
    'status.json',
  ]);
  const banners = join(folder.path, 'artifacts', 'banners');
  const files = await readdir(banners);
  expect(files).toHaveLength(ports);
  for (const file of files) expect((await stat(join(banners, file))).size).toBeGreaterThan(20);
});

it('does neither unless requested', async () => {
  const folder = await finishedScan();
  const before = await readdir(folder.path);
  expect(await finalizeRecord(folder, { compress: false, keep_artifacts: false })).toEqual([]);
  expect(await readdir(folder.path)).toEqual(before);
});

it('warns when it fails, and keeps the record', async () => {
  const folder = await finishedScan();
  await writeFile(join(folder.path, 'artifacts'), 'a file in the place of the folder');
  const warnings = await finalizeRecord(folder, both);
  expect(warnings.map(({ code }) => code)).toEqual(['artifacts_incomplete']);
  expect(JSON.stringify(warnings)).not.toContain(dir);
  expect(await readdir(folder.path)).toContain('results.jsonl.gz');
});
