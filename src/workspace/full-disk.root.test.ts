import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';

const run = promisify(execFile);

/** Mounting a file system of limited size needs root; in a mount namespace no other process sees it. */
function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-full-'));
});

afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

it.runIf(canMount())(
  'a full disk has its own error, loses nothing sealed, and is over when space returns',
  async () => {
    const script = 'mount -t tmpfs -o size=12m tmpfs "$1" && exec "$2" --input-type=module -e "$3"';
    const { stdout } = await run('unshare', [
      '--mount',
      'sh',
      '-c',
      script,
      'sh',
      dir,
      process.execPath,
      source(),
    ]);
    const seen = JSON.parse(stdout);
    expect(seen).toEqual({
      append: 'insufficient_storage',
      finish: 'insufficient_storage',
      status: 'insufficient_storage',
      insert: 'insufficient_storage',
      create: 'insufficient_storage',
      leftover: false,
      readable: seen.sealed,
      sealed: seen.sealed,
      reopened: seen.sealed,
      finished: true,
      inserted: 1,
    });
    expect(seen.sealed).toBeGreaterThan(1000);
  },
);

function source(): string {
  const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  return `
    import { rmSync, writeFileSync } from 'node:fs';
    import { openStore } from ${module('../store/open.ts')};
    import { openWorkspace } from ${module('./workspace.ts')};
    import { openRecord } from ${module('./record/record-writer.ts')};
    import { recordIn } from ${module('./record/folder-record.ts')};
    const dir = ${JSON.stringify(dir)};
    const timestamp = '2026-10-06T14:30:22.101Z';
    const request = (n) => ({ scan_id: '20261006-143022-' + String(n).padStart(6, '0'), created_at: timestamp,
      targets: ['10.0.0.1'], exclude: [], profile: 'quick', vuln: false, notifications: [], name: 'x'.repeat(2000),
      tags: [], ports: null, rate: 1, dag: null, pool: 'default', options: {}, user: null });
    const summary = { type: 'summary', timestamp, host: null, scan_id: 'x', status: 'completed' };
    const codeOf = (work) => work().then(() => null, (error) => error.code);
    const seen = {};

    const workspace = await openWorkspace(dir);
    const store = await openStore(workspace.storeFile);
    const folder = workspace.scan(request(0).scan_id);
    await folder.create(request(0));
    writeFileSync(dir + '/ballast', Buffer.alloc(8_000_000));

    const writer = await openRecord(folder, { onSealed: (rows) => { seen.sealed = rows; } });
    let port = 0;
    seen.append = await codeOf(async () => {
      for (;;) await writer.append({ type: 'port', timestamp, host: '10.0.0.1', port: port++, protocol: 'tcp',
        state: 'open', reason: 'syn-ack', banner: 'x'.repeat(500) });
    });
    seen.finish = await codeOf(() => writer.finish(summary));
    await writer.close();
    seen.status = await codeOf(() => folder.writeStatus({ text: 'x'.repeat(2_000_000) }));
    seen.insert = await codeOf(async () => { for (let n = 1; ; n++) await store.scans.insert(request(n)); });
    const refused = workspace.scan(request(777).scan_id);
    seen.create = await codeOf(() => refused.create({ ...request(777), targets: ['x'.repeat(2_000_000)] }));
    seen.leftover = await refused.exists();
    seen.readable = 0;
    for await (const row of recordIn(folder).rows()) seen.readable += 1;

    rmSync(dir + '/ballast');
    const again = await openRecord(folder);
    seen.reopened = again.rows;
    await again.finish(summary);
    seen.finished = again.finished;
    await store.scans.insert(request(999_999));
    seen.inserted = (await store.scans.list({ q: '', limit: 1, offset: 0 })).scans.length;
    await store.close();
    console.log(JSON.stringify(seen));`;
}
