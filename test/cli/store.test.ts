import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedScanId, storeScan } from '../../src/actions/fixtures/stored-scan.ts';
import { openStore } from '../../src/store/open.ts';
import { openWorkspace } from '../../src/workspace/workspace.ts';
import { emptyDatabase, postgresObstacle } from '../postgres.ts';
import { Home } from './command.ts';

// Every test runs several programs.

describe.skipIf(postgresObstacle() !== null)('store migrate', () => {
  let home: Home;
  let dir: string;
  let url: string;

  beforeAll(async () => {
    url = await emptyDatabase();
    home = new Home();
    dir = home.file('ws');
    const workspace = await openWorkspace(dir);
    const store = await openStore(workspace.storeFile);
    const rules = { compress: false, keep_artifacts: true };
    for (let number = 0; number < 3; number++) await storeScan({ store, workspace }, number, 2, rules);
    await store.close();
  });

  afterAll(async () => {
    home?.remove();
  });

  const portolan = (args: string[], env = {}) => home.run([...args, '--workspace-dir', dir], { env });

  it('takes the store to PostgreSQL, where the commands find it, and back to the file', async () => {
    const there = await portolan(['store', 'migrate', '--to', url]);
    expect([there.code, there.stderr]).toEqual([0, expect.stringContaining('set queue.url')]);
    expect(there.stdout).toMatch(/^TABLE +ROWS +SHA-256\nscans +3 +[0-9a-f]{16}\n/);
    expect(there.stdout).toContain('rows copied and verified');

    const onDatabase = { SERVICE_QUEUE__URL: url };
    const made = await portolan(
      ['server', 'token', 'create', '--name', 'ci', '--scopes', 'scan:read'],
      onDatabase,
    );
    expect(made.code, made.stderr).toBe(0);
    const again = await portolan(['store', 'migrate', '--to', url]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('the target must be empty')]);
    const over = await portolan(['store', 'migrate', '--to', 'sqlite:'], onDatabase);
    expect([over.code, over.stderr]).toEqual([1, expect.stringContaining('has 3 rows in scans')]);
    for (const refused of [
      ['gc', '--older-than', '1d', '--force'],
      ['check', '--fix'],
      ['delete', storedScanId(0), '--force'],
    ]) {
      const { code, stderr } = await portolan(['workspace', ...refused], onDatabase);
      expect([code, stderr]).toEqual([3, expect.stringContaining('several servers')]);
    }

    for (const end of ['', '-wal', '-shm']) await rm(join(dir, `service.db${end}`), { force: true });
    const back = await portolan(['store', 'migrate', '--to', 'sqlite:', '--format', 'json'], onDatabase);
    expect([back.code, back.stderr]).toEqual([0, expect.stringContaining('remove queue.url')]);
    expect((JSON.parse(back.stdout) as { from: string }).from).toBe(url);
    expect((await stat(join(dir, 'service.db'))).mode & 0o777).toBe(0o600);
    const tokens = await portolan(['server', 'token', 'list', '--format', 'json']);
    expect(tokens.stdout).toContain('"ci"');
    const scans = await portolan(['workspace', 'list', '--format', 'json']);
    expect((JSON.parse(scans.stdout) as { total: number }).total).toBe(3);
    expect((await portolan(['workspace', 'check'])).code).toBe(0);
  });

  it('ends with the code of what is wrong', async () => {
    const ends = async (...args: string[]) => (await portolan(['store', 'migrate', ...args])).code;
    expect(await ends()).toBe(2);
    expect(await ends('--to', 'mysql://x/y')).toBe(2);
    expect(await ends('--to', 'sqlite:')).toBe(2);
    expect(await ends('--to', url, '--from', url)).toBe(2);
    const secret = url.replace('portolan@', 'nobody:hunter2@');
    const { code, stderr } = await portolan(['store', 'migrate', '--to', secret]);
    expect([code, stderr.includes('hunter2')]).toEqual([3, false]);
    expect(await ends('--to', url.replace(/:\d+\//, ':1/'))).toBe(1);
  });
});
