import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = import.meta.dirname;
const isTest = /\.test\.tsx?$|(?:^|\/)fixtures\//;

/** A build tool or the part of it for this machine is not installed. */
export class BuildToolsMissing extends Error {}

/** Loads build tools. @throws BuildToolsMissing */
export async function loadTools<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new BuildToolsMissing('the build tools are not installed', { cause: error });
  }
}

/** Also a native part for this machine, which npm installs as an optional dependency. */
function isMissing(error: unknown): boolean {
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  return code.endsWith('MODULE_NOT_FOUND') || /native binding/i.test(message);
}

/** Hash of files and of all files in folders, without tests; the same on every machine. @param inputs from the root of the checkout */
export function hashOf(inputs: readonly string[]): string {
  const all = createHash('sha256');
  for (const file of inputs.flatMap(filesOf)) {
    const content = createHash('sha256').update(readFileSync(join(root, file)));
    all.update(`${file}\0${content.digest('hex')}\n`);
  }
  return all.digest('hex');
}

function filesOf(input: string): string[] {
  const path = join(root, input);
  if (statSync(path).isFile()) return [input];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !isTest.test(file))
    .sort();
}

/** Content of a file; null where there is none. */
export function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
