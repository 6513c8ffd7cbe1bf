import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PortRow } from '../../domain/result.ts';
import { bannerBytes } from '../../domain/text/banner.ts';
import { diskError, fileMode, folderMode, isMissing, syncFolder } from '../atomic-file.ts';
import type { ScanFolder } from '../scan-folder.ts';
import { recordIn } from './folder-record.ts';

/** Maximum number of banner files per scan. The rest is in the results only: a file takes 4 KiB on most disks. */
export const maxBannerFiles = 100_000;

/** Files written concurrently. */
const filesAtOnce = 16;

/**
 * Writes the banners of a finished record as `artifacts/banners/<ip>-<port>-<proto>.txt`, each with the exact bytes
 * from the service. They are written to a draft folder that is then renamed: leftovers of an earlier attempt are
 * replaced, and an existing folder is complete.
 * @returns number of banners beyond the file limit
 * @throws PortolanError `insufficient_storage`; nothing is left behind then
 */
export async function writeBannerFiles(folder: ScanFolder, limit = maxBannerFiles): Promise<number> {
  const artifacts = join(folder.path, 'artifacts');
  const place = join(artifacts, 'banners');
  if (await isThere(place)) return 0;
  const draft = join(artifacts, 'banners.new');
  await rm(draft, { recursive: true, force: true });
  try {
    const banners = await writeAll(folder, draft, limit);
    if (banners === 0) return 0;
    await syncFolder(draft);
    await rename(draft, place);
    await syncFolder(artifacts);
    await syncFolder(folder.path);
    return Math.max(0, banners - limit);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw diskError(error);
  }
}

/** @returns number of banners in the record, including those beyond the limit */
async function writeAll(folder: ScanFolder, draft: string, limit: number): Promise<number> {
  let banners = 0;
  let batch: PortRow[] = [];
  for await (const row of recordIn(folder).rows()) {
    if (row.type !== 'port' || !row.banner) continue;
    if (banners === 0) await mkdir(draft, { recursive: true, mode: folderMode });
    banners += 1;
    if (banners > limit) continue;
    batch.push(row);
    if (batch.length < filesAtOnce) continue;
    await writeBatch(draft, batch);
    batch = [];
  }
  await writeBatch(draft, batch);
  return banners;
}

/** Waits for all, even after a failure: no file may appear once the folder is being removed. */
async function writeBatch(draft: string, rows: readonly PortRow[]): Promise<void> {
  for (const result of await Promise.allSettled(rows.map((row) => writeBanner(draft, row)))) {
    if (result.status === 'rejected') throw result.reason;
  }
}

async function writeBanner(draft: string, row: PortRow): Promise<void> {
  const { banner, banner_b64 } = row;
  const bytes = bannerBytes({ banner: banner ?? '', banner_b64: banner_b64 ?? undefined });
  const file = await open(join(draft, bannerFileName(row)), 'wx', fileMode);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * `<ip>-<port>-<proto>.txt`. The colons of IPv6 become underscores, which no address has; in a zone everything except
 * letters and digits is written as `%XX`, so that different hosts never share a name.
 */
export function bannerFileName({
  host,
  port,
  protocol,
}: Pick<PortRow, 'host' | 'port' | 'protocol'>): string {
  const [address = '', ...zone] = host.split('%');
  const suffix = zone.length === 0 ? '' : `%${escaped(zone.join('%'), /[^0-9A-Za-z]/gu)}`;
  const name = escaped(address, /[^0-9A-Za-z.:]/gu).replaceAll(':', '_');
  return `${name}${suffix}-${port}-${protocol}.txt`;
}

function escaped(text: string, unsafe: RegExp): string {
  return text.replace(unsafe, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
