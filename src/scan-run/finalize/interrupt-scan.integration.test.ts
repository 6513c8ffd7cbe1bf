import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { Scan } from '../../domain/scan.ts';
import { openStore } from '../../store/open.ts';
import { writeCheckpoint } from '../../workspace/record/checkpoint.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { interruptScan, isDeadCommandLine, liveCommandLine } from './interrupt-scan.ts';

/** No process has such a number. */
const gone = 99_999_999;

it('detects a gone command line process in its own workspace only', () => {
  expect(liveCommandLine(`cli:${process.pid}`, 'server')).toBe(process.pid);
  expect(liveCommandLine(`cli:${gone}`, 'server')).toBeNull();
  expect(isDeadCommandLine(`cli:${gone}:here`, 'server:here')).toBe(true);
  expect(isDeadCommandLine(`cli:${gone}:there`, 'server:here')).toBe(false);
  expect(liveCommandLine(`cli:${gone}:there`, 'server:here')).toBe(gone);
  expect([liveCommandLine('server:here', 'server:here'), liveCommandLine(null, 'server')]).toEqual([
    null,
    null,
  ]);
});

it('an interrupted scan ends as its checkpoint says, and keeps no report of the end that it did not reach', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-interrupt-'));
  const workspace = await openWorkspace(dir);
  const store = await openStore(workspace.storeFile);
  try {
    const request = scanRequest();
    const folder = workspace.scan(request.scan_id);
    await folder.create(request);
    await store.scans.insert(request);
    // The clock was set back after the scan began.
    const started_at = new Date(Date.now() + 86_400_000).toISOString();
    await store.scans.update(request.scan_id, { status: 'running', started_at });
    await writeCheckpoint(folder, {}, { elapsed_ms: 12_500, paused_ms: 0 });
    writeFileSync(join(folder.reportsDir, 'results.json'), '{"status":"completed"}');
    const error = { code: 'interrupted', message: 'its process died' } as const;
    const reported: string[] = [];
    const onEnd = ({ status }: Scan) => void reported.push(status);
    const end = () => interruptScan({ store, workspace, onEnd }, request.scan_id, error);
    const [ended] = await Promise.all([end(), end()]);
    expect(ended).toMatchObject({ error, completed_at: started_at });
    // Neither a second caller nor a later one ends it once more.
    expect(await end()).toMatchObject({ error });
    expect(reported).toEqual(['failed']);
    const summary = { status: 'failed', partial: true, duration_seconds: 12.5 };
    expect(await recordIn(folder).summary()).toMatchObject(summary);
    expect(readdirSync(folder.reportsDir)).toEqual([]);
  } finally {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
