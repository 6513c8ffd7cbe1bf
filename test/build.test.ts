import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from './cli/command.ts';
import { root } from './program.ts';

/** What the builds of the program and the UI read. */
const sources = [
  'build.ts',
  'build-inputs.ts',
  'bundle.ts',
  'prepare.js',
  'package.json',
  'package-lock.json',
  'ui',
  'src',
];

describe('the builds without their tools', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-build-'));
  beforeAll(() => {
    for (const source of sources) cpSync(join(root, source), join(folder, source), { recursive: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const build = (...args: string[]) => run(process.execPath, args, { cwd: folder });

  it('does not end the installation of those who left them out', async () => {
    for (const args of [['build.ts', 'prepare'], ['prepare.js']]) {
      const { code, stdout, stderr } = await build(...args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const reason = 'not built: the build tools are not installed (npm ci without --omit installs them)\n';
      expect(stdout).toBe(`Program ${reason}Web UI ${reason}`);
    }
    expect(readdirSync(join(folder, 'dist'))).toEqual([]);
  });

  it('fails for those who ask for it', async () => {
    const { code, stdout } = await build('build.ts', 'ui');
    expect([code, stdout]).toEqual([1, expect.stringContaining('npm ci without --omit')]);
  });
});
