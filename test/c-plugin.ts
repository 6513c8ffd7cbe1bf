import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const header = join(import.meta.dirname, '../sdk/c');

/** Folder for the plugins of one test file, which removes it. */
export function pluginFolder(): string {
  return mkdtempSync(join(tmpdir(), 'portolan-c-plugin-'));
}

/**
 * Compiles a C source to a shared object.
 * @param flags of gcc, such as `-DABI=2`
 * @returns its path
 */
export function compilePlugin(
  folder: string,
  source: string,
  name = basename(source, '.c'),
  flags: string[] = [],
): string {
  const file = join(folder, `${name}.so`);
  const args = [
    '-O1',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-Wno-unused',
    '-shared',
    '-fPIC',
    `-I${header}`,
    ...flags,
    '-o',
    file,
    source,
  ];
  execFileSync('gcc', args, { stdio: ['ignore', 'inherit', 'inherit'] });
  return file;
}
