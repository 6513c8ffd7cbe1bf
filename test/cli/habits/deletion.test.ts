import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../command.ts';
import { runInTerminal, runOnPseudoTerminal } from '../terminal.ts';

const home = new Home();
const dir = home.file('workspace');
const here = ['--workspace-dir', dir];
afterAll(() => home.remove());

const ids: string[] = [];

beforeAll(async () => {
  for (let scans = 0; scans < 3; scans++) {
    const scan = ['scan', '127.0.0.1', '--no-discover', '--ports', '9', '--format', 'json', ...here];
    ids.push((JSON.parse((await home.run(scan)).stdout) as { scan_id: string }).scan_id);
  }
}, 240_000);

async function stored(): Promise<number> {
  const { stdout } = await home.run(['workspace', 'list', '--format', 'json', ...here]);
  return (JSON.parse(stdout) as { total: number }).total;
}

/** All that the terminal shows. */
const typed = (input: string, ...args: string[]) =>
  runInTerminal(home, ['workspace', ...args, ...here], { input, apart: false });

describe('without a terminal', () => {
  it.each([
    ['delete', () => ['delete', ids[0] ?? ''], /^portolan: Delete scan \S+ \(\d.*B\)\? .*--force/],
    ['gc', () => ['gc', '--keep-last', '1'], /^portolan: Delete 2 scans \(\d.*B\)\? .*--force/],
  ])('%s ends with 2 and names --force', async (_what, args, expected) => {
    const { code, stdout, stderr } = await home.run(['workspace', ...args(), ...here]);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(expected)]);
    expect(await stored()).toBe(3);
  });

  it('gc has nothing to ask about where it deletes nothing', async () => {
    const { code, stdout } = await home.run(['workspace', 'gc', '--keep-last', '3', ...here]);
    expect([code, stdout]).toEqual([0, '0 scans deleted (0 bytes), 3 kept\n']);
  });
});

describe('in a terminal', () => {
  it('everything but yes declines', async () => {
    for (const input of ['\n', 'n\n', 'maybe\n']) {
      const { code, stdout } = await typed(input, 'delete', ids[0] ?? '');
      expect([code, stdout]).toEqual([
        1,
        expect.stringMatching(new RegExp(`Delete scan ${ids[0]} \\(\\d.*B\\)\\? \\[y/N\\] `)),
      ]);
      expect(stdout).toContain('nothing deleted');
    }
    expect(await stored()).toBe(3);
  });

  it('yes deletes', async () => {
    expect(await typed('y\n', 'delete', ids[0] ?? '')).toMatchObject({ code: 0 });
    const gc = await typed('yes\n', 'gc', '--keep-last', '1');
    expect([gc.code, gc.stdout]).toEqual([0, expect.stringMatching(/Delete 1 scan \(\d.*B\)\? \[y\/N\] /)]);
    expect(await stored()).toBe(1);
  });

  it('clean-cache asks too', async () => {
    mkdirSync(join(dir, 'cache', 'dns'), { recursive: true });
    writeFileSync(join(dir, 'cache', 'dns', 'names'), 'x'.repeat(1000));
    expect((await home.run(['workspace', 'clean-cache', ...here])).code).toBe(2);
    const options = { input: 'y\n', apart: false };
    const cleaned = await runOnPseudoTerminal(home, ['workspace', 'clean-cache', ...here], options);
    expect([cleaned.code, cleaned.stdout]).toEqual([
      0,
      expect.stringMatching(
        /Delete 1 cache entry \(1\.0 kB\)\? \[y\/N\] [^]*1 cache entry deleted \(1\.0 kB\)/,
      ),
    ]);
  });
});
