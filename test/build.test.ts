import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from './cli/command.ts';
import { root } from './program.ts';

/** What the build of the UI reads. */
const sources = [
  'build.ts',
  'package.json',
  'package-lock.json',
  'ui',
  'src/domain',
  'src/cli/build-info.ts',
  'src/report/pdf/type/fonts.ts',
];

describe('the build of the UI without its tools', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-build-'));
  beforeAll(() => {
    for (const source of sources) cpSync(join(root, source), join(folder, source), { recursive: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const build = (...args: string[]) => run(process.execPath, args, { cwd: folder });

  it('does not end the installation of those who left them out', async () => {
    for (const args of [['build.ts', 'prepare'], ['ui/prepare.js']]) {
      const { code, stdout, stderr } = await build(...args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toBe(
        'Web UI not built: the build tools are not installed (npm ci without --omit installs them)\n',
      );
    }
    expect(existsSync(join(folder, 'dist'))).toBe(false);
  });

  it('fails for those who ask for it', async () => {
    const { code, stdout } = await build('build.ts', 'ui');
    expect([code, stdout]).toEqual([1, expect.stringContaining('npm ci without --omit')]);
  });
});
