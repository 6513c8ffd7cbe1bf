import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const root = join(import.meta.dirname, '..');
const target = join(root, 'dist', 'ui');
/** In the built folder: the hash of what it was made from. */
const stampName = '.stamp';
/** What the build reads: the pages, the versions of their libraries, and the part of the server that they share. */
const inputs = ['ui', 'package-lock.json', 'src/domain'];
const isTest = /\.test\.tsx?$|(?:^|\/)fixtures\//;
/** Smaller files are sent as they are, bytes. */
const smallestCompressed = 1024;

/** Vite or one of its plugins is not installed. */
export class BuildToolsMissing extends Error {}

/**
 * Builds the Web UI into dist/ui, unless it was built from the same files. The folder is replaced at the end: a server that
 * runs from this checkout never sees half a build, and a build that fails leaves the one before.
 *
 * @throws BuildToolsMissing
 */
export async function buildUi(): Promise<'built' | 'unchanged'> {
  const stamp = hashOf(inputs.flatMap(filesOf));
  if (textOf(join(target, stampName)) === stamp) return 'unchanged';
  const { build, config } = await loadTools();
  const folder = `${target}-${process.pid}`;
  // React and Vite build for development when it says so.
  process.env['NODE_ENV'] = 'production';
  try {
    const options = { ...config.build, outDir: folder };
    await build({ ...config, configFile: false, logLevel: 'warn', build: options });
    await compressAll(join(folder, 'assets'));
    writeFileSync(join(folder, stampName), stamp);
    rmSync(target, { recursive: true, force: true });
    renameSync(folder, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return 'built';
}

async function loadTools() {
  try {
    const [{ build }, { default: config }] = await Promise.all([import('vite'), import('./vite.config.ts')]);
    return { build, config };
  } catch (error) {
    throw isMissing(error)
      ? new BuildToolsMissing('the build tools are not installed', { cause: error })
      : error;
  }
}

/** Also a native part for this machine, which npm installs as an optional dependency. */
function isMissing(error: unknown): boolean {
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  return code.endsWith('MODULE_NOT_FOUND') || /native binding/i.test(message);
}

/** Paths from the root, in the same order on every machine. */
function filesOf(input: string): string[] {
  const path = join(root, input);
  if (statSync(path).isFile()) return [input];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !isTest.test(file))
    .sort();
}

function hashOf(files: string[]): string {
  const all = createHash('sha256');
  for (const file of files) {
    const content = createHash('sha256').update(readFileSync(join(root, file)));
    all.update(`${file}\0${content.digest('hex')}\n`);
  }
  return all.digest('hex');
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Leaves `x.js.br` and `x.js.gz` in place of `x.js`, where that is worth it: three forms would double the program's size. */
async function compressAll(folder: string): Promise<void> {
  const names = readdirSync(folder).filter((name) => /\.(?:js|css|svg|json)$/.test(name));
  await Promise.all(names.map((name) => compress(join(folder, name))));
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file);
  if (content.length < smallestCompressed) return;
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
  await rm(file);
}
