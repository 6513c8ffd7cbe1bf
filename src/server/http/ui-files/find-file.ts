import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { PortolanError } from '../../../domain/errors.ts';

/**
 * The segments of a path, the last one empty for a directory. Each is decoded separately, so that an encoded slash cannot
 * split one.
 *
 * @throws PortolanError `not_found` for a name that a UI file cannot have
 */
export function segmentsOf(path: string): string[] {
  const segments = path.split('/').map(decoded);
  const isGood = (name: string, index: number) =>
    (name !== '' || index === segments.length - 1) && !name.startsWith('.') && !/[/\\\0]/.test(name);
  if (!segments.every(isGood)) throw noSuchFile();
  return segments;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw noSuchFile();
  }
}

/** Whether a path that is no file is a page that the UI makes by itself: its last name has no dot. */
export function isPagePath(segments: readonly string[]): boolean {
  return !(segments.at(-1) ?? '').includes('.');
}

/** @param root real path @returns the path of the file within the root; null when there is none */
export async function findFile(root: string, segments: readonly string[]): Promise<string | null> {
  const wanted = join(root, ...segments, segments.at(-1) === '' ? indexName : '');
  const place = await insideOf(root, wanted);
  if (place === 'outside') return null;
  if (place !== 'missing') return place;
  return isPagePath(segments) ? await indexOf(root) : null;
}

/** The page of every path that is no file. */
export const indexName = 'index.html';

async function indexOf(root: string): Promise<string | null> {
  const place = await insideOf(root, join(root, indexName));
  return place === 'missing' || place === 'outside' ? null : place;
}

const missing = new Set<string | undefined>(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

/**
 * Real location of a file, relative to the root. For a missing one, the nearest existing directory decides whether the
 * path leads outside: responses must not reveal which outside files exist.
 */
async function insideOf(root: string, path: string): Promise<string | 'missing' | 'outside'> {
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) =>
    missing.has(error.code) ? 'missing' : 'outside',
  );
  if (real === 'missing') {
    return path === root
      ? 'missing'
      : (await insideOf(root, dirname(path))) === 'outside'
        ? 'outside'
        : 'missing';
  }
  if (real === 'outside' || !holds(root, real)) return 'outside';
  const place = relative(root, real);
  if (place.split(sep).some((name) => name.startsWith('.'))) return 'outside';
  return (await isReadableFile(real)) ? place : 'missing';
}

async function isReadableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Whether a directory equals the other one or contains it. */
export function holds(folder: string, place: string): boolean {
  return place === folder || place.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

export function noSuchFile(): PortolanError {
  return new PortolanError('not_found', 'Path not found.');
}
