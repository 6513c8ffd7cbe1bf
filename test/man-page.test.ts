import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeManPage } from '../man-page.ts';
import packageFile from '../package.json' with { type: 'json' };
import { isInstalled } from './installed.ts';

const folder = mkdtempSync(join(tmpdir(), 'portolan-man-'));
const file = join(folder, 'portolan.1');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => writeManPage(file, packageFile.version));

describe('the manual page', () => {
  it('is installed with the package: npm links what a list names', () => {
    expect(packageFile.man).toEqual(['dist/portolan.1']);
    expect(packageFile.files).toContain('dist');
  });

  it('names commands and flags as the help does', () => {
    const page = readFileSync(file, 'utf8').replaceAll('\\-', '-');
    for (const text of [
      '.SS portolan scan [TARGETS...]',
      '.SS portolan scan list',
      '.SS portolan server start',
    ])
      expect(page).toContain(text);
    for (const text of ['--exclude-file <file>', '--allow-insecure', '--workspace-dir <dir>', '8 changed'])
      expect(page).toContain(text);
    expect(page).not.toContain('--list <file>');
  });

  it.skipIf(!isInstalled('man'))('is read by man without a warning, in 80 columns', () => {
    const read = (words: string, into = '') =>
      execFileSync('sh', ['-c', `MANWIDTH=80 man ${words} -l "${file}" ${into}`], {
        encoding: 'utf8',
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      });
    expect(read('--warnings', '2>&1 >/dev/null')).toBe('');
    const lines = read('').split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.slice(0, 5).join('\n')).toContain('portolan - a network security scanner');
  });
});
