import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../workspace/atomic-file.ts';
import { readPlainText } from '../../workspace/plain-file.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';

/** `checkpoint.resumes.json`: the history of a scan's resumes. */
export interface ResumeMark {
  /** Progress at the last start: durable rows of the record plus the progress of the checkpoint. */
  reached: number;
  /** Resumes in a row without new progress. */
  stalled: number;
  /** The server stopped the scan cleanly, so the next start does not count as a failure. */
  orderly: boolean;
}

const noMark: ResumeMark = { reached: 0, stalled: 0, orderly: false };

export async function readResumeMark(folder: ScanFolder): Promise<ResumeMark> {
  try {
    return { ...noMark, ...(JSON.parse(await readPlainText(markFile(folder))) as Partial<ResumeMark>) };
  } catch {
    // Missing at the first start. A damaged one counts as missing: at worst the scan gets additional attempts.
    return noMark;
  }
}

/** The mark of a start. @param reached progress of the scan */
export function nextResumeMark(last: ResumeMark, reached: number): ResumeMark {
  if (reached > last.reached) return { reached, stalled: last.orderly ? 0 : 1, orderly: false };
  return { reached: last.reached, stalled: last.stalled + (last.orderly ? 0 : 1), orderly: false };
}

export async function writeResumeMark(folder: ScanFolder, mark: ResumeMark): Promise<void> {
  await writeFileAtomic(markFile(folder), JSON.stringify(mark));
}

export async function removeResumeMark(folder: ScanFolder): Promise<void> {
  await rm(markFile(folder), { force: true });
}

function markFile(folder: ScanFolder): string {
  return join(folder.path, 'checkpoint.resumes.json');
}
