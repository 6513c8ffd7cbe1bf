import { afterAll, describe, expect, it } from 'vitest';
import { Home } from './command.ts';
import { Listeners } from './listeners.ts';

const home = new Home();
const listeners = new Listeners();
afterAll(() => {
  listeners.close();
  home.remove();
});

async function gc(...args: string[]) {
  const { code, stdout, stderr } = await home.run(['workspace', 'gc', '--format', 'json', ...args]);
  return { code, stderr, report: stdout === '' ? null : JSON.parse(stdout) };
}

describe('workspace gc', () => {
  it('tells in a dry run what goes, then deletes it', async () => {
    const port = await listeners.greet('SSH-2.0-OpenSSH_9.2p1\r\n');
    for (let scans = 0; scans < 2; scans++) {
      expect((await home.run(['scan', '127.0.0.1', '--ports', String(port)])).code).toBe(0);
    }
    expect((await gc()).report).toMatchObject({ deleted_count: 0, kept_count: 2 });
    expect((await gc('--older-than', '1y')).report).toMatchObject({ deleted_count: 0 });
    const dry = await gc('--keep-last', '1', '--dry-run');
    expect(dry.report).toMatchObject({ dry_run: true, deleted_count: 1, kept_count: 1, errors: [] });
    expect(dry.report.freed_bytes).toBeGreaterThan(0);
    const done = await gc('--keep-last', '1', '--force');
    expect([done.code, done.report]).toEqual([0, { ...dry.report, dry_run: false }]);
    const text = await home.run(['workspace', 'gc', '--keep-last', '0', '--force']);
    expect(text.stdout).toMatch(/^\d{8}-\d{6}-\w+\n1 scan deleted \([\d.]+ \w+\), 0 kept\n$/);
    expect(JSON.parse((await home.run(['workspace', 'list', '--format', 'json'])).stdout).total).toBe(0);
  });

  it.each([
    ['minutes or months', ['--older-than', '5m'], 2],
    ['no unit', ['--older-than', '30'], 2],
    ['less than nothing', ['--keep-last', '-1'], 2],
    ['a server that is not there', ['--server', 'http://127.0.0.1:9'], 4],
  ])('refuses %s', async (_what, args, code) => {
    expect(await gc(...args)).toMatchObject({ code, report: null });
  });
});
