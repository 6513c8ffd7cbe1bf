import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { hashOf, loadTools, textOf } from '../build-inputs.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'dist', 'ui');
/** In the built folder: the hash of what it was made from. */
const stampName = '.stamp';
/** What the build reads: the pages, the versions of their libraries, and the part of the server that they share. */
const inputs = ['ui', 'package-lock.json', 'src/domain'];
/** Smaller files are sent as they are, bytes. */
const smallestCompressed = 1024;

/**
 * Builds the Web UI into dist/ui, unless it was built from the same files. The folder is replaced at the end: a server that
 * runs from this checkout never sees half a build, and a build that fails leaves the one before.
 *
 * @throws BuildToolsMissing
 */
export async function buildUi(): Promise<'built' | 'unchanged'> {
  const stamp = hashOf(inputs);
  if (textOf(join(target, stampName)) === stamp) return 'unchanged';
  const [{ build }, { default: config }] = await loadTools(() =>
    Promise.all([import('vite'), import('./vite.config.ts')]),
  );
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
