import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';

/** The name of a rotated file: `portolan.log` becomes `portolan-20261006T143022.118Z-001.log`. Names sort by age. */
export function rotatedName(path: string, time: Date, index: number): string {
  const { stem, ending } = partsOf(path);
  return `${stem}-${time.toISOString().replace(/[-:]/g, '')}-${String(index).padStart(3, '0')}${ending}`;
}

/** The rotated files of a file, oldest first. @throws system errors if the folder is unreadable */
export async function rotatedFiles(path: string): Promise<string[]> {
  const { stem, ending } = partsOf(path);
  const isRotated = (name: string) =>
    name.startsWith(`${stem}-`) &&
    name.endsWith(ending) &&
    /^\d{8}T\d{6}\.\d{3}Z-\d{3}$/.test(name.slice(stem.length + 1, name.length - ending.length));
  const names = await readdir(dirname(path));
  return names
    .filter(isRotated)
    .sort()
    .map((name) => join(dirname(path), name));
}

function partsOf(path: string): { stem: string; ending: string } {
  const ending = extname(path);
  return { stem: basename(path, ending), ending };
}
