import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../src/store/open.ts';

let empty: Promise<Buffer> | null = null;

/** Puts the file of an empty store where none is: a copy takes a tenth of all migrations, which are the same each time. */
export async function placeNewStore(file: string): Promise<void> {
  if (existsSync(file)) return;
  empty ??= makeEmpty();
  await writeFile(file, await empty, { mode: 0o600 });
}

async function makeEmpty(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-new-store-'));
  try {
    const file = join(folder, 'store');
    await (await openStore(file)).close();
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
