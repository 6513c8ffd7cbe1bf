import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { GenerationWriter } from '../../knowledge/vulndb/generation/generation-writer.ts';
import type { GenerationManifest, SourceState } from '../../knowledge/vulndb/generation/manifest.ts';
import { FeedProblem, fileBytes } from '../../knowledge/vulndb/import/feed-bytes.ts';
import { type FeedFormat, type FeedReport, importFeed } from '../../knowledge/vulndb/import/import-feed.ts';
import { diskError } from '../../workspace/atomic-file.ts';

export interface ImportRequest {
  /** Folder of the vulnerability data. */
  dir: string;
  /** Files, or folders that contain such files. */
  paths: string[];
  /** Discard existing data first, which may be damaged. */
  replace: boolean;
}

/** Result for one of the paths. */
export interface ImportedPath {
  path: string;
  formats: FeedFormat[];
  files: number;
  /** Files of other kinds in a folder. */
  skipped: number;
  accepted: number;
  refused: number;
  /** The first few. */
  reasons: string[];
}

export interface ImportReport {
  manifest: GenerationManifest;
  imported: ImportedPath[];
}

/** Maximum number of files below one folder. */
const maxFiles = 2_000_000;
/** Maximum folder depth. */
const maxFolderDepth = 16;
/** Maximum number of reasons reported per path. */
const maxReasons = 5;

/**
 * Imports files with vulnerability data as the next generation, all of them or none.
 * @throws PortolanError `invalid_request` naming the unusable file and why, `conflict` while another import runs,
 * `insufficient_storage`
 */
export async function importVulndb({ dir, paths, replace }: ImportRequest): Promise<ImportReport> {
  const writer = GenerationWriter.open(dir, replace);
  try {
    const dates = new Map<FeedFormat, string | null>();
    const imported: ImportedPath[] = [];
    for (const path of paths) imported.push(await importPath(path, writer, dates));
    const manifest = await writer.commit({ sources: statesOf(dates, writer.base), synced: false });
    return { manifest, imported };
  } catch (error) {
    throw diskError(error);
  } finally {
    writer.close();
  }
}

async function importPath(
  path: string,
  writer: GenerationWriter,
  dates: Map<FeedFormat, string | null>,
): Promise<ImportedPath> {
  const entry = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    throw unusable(path, `cannot be read: ${error.code ?? error.message}`);
  });
  const found: ImportedPath = {
    path,
    formats: [],
    files: 0,
    skipped: 0,
    accepted: 0,
    refused: 0,
    reasons: [],
  };
  const keep = (report: FeedReport) => {
    count(found, report);
    const known = dates.get(report.format) ?? null;
    dates.set(report.format, latest(known, report.date));
  };
  if (!entry.isDirectory()) keep(await importFile(path, writer));
  else {
    for await (const file of filesBelow(path)) {
      const report = await importOneOfMany(file, writer, found);
      if (report) keep(report);
    }
    if (found.files === 0) throw unusable(path, 'contains no file with vulnerability data');
  }
  return found;
}

async function importFile(path: string, writer: GenerationWriter): Promise<FeedReport> {
  try {
    return await importFeed(fileBytes(path), writer);
  } catch (error) {
    if (error instanceof FeedProblem) throw unusable(path, error.message, error);
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'open' || syscall === 'read') throw unusable(path, `cannot be read: ${code}`, error);
    throw error;
  }
}

/** In a folder, files of other kinds are skipped, and a file with one bad record counts as one bad record. */
async function importOneOfMany(
  path: string,
  writer: GenerationWriter,
  found: ImportedPath,
): Promise<FeedReport | null> {
  try {
    return await importFile(path, writer);
  } catch (error) {
    const problem = error instanceof PortolanError && error.cause instanceof FeedProblem ? error.cause : null;
    if (problem?.kind === 'unknown') found.skipped++;
    else if (problem?.kind === 'refused') {
      found.refused++;
      if (found.reasons.length < maxReasons) found.reasons.push(`${path} ${problem.message}`);
    } else throw error;
    return null;
  }
}

function count(found: ImportedPath, { format, accepted, refused, reasons }: FeedReport): void {
  if (!found.formats.includes(format)) found.formats.push(format);
  found.files++;
  found.accepted += accepted;
  found.refused += refused;
  found.reasons.push(...reasons.slice(0, maxReasons - found.reasons.length));
}

/** Links are not followed. */
async function* filesBelow(folder: string): AsyncGenerator<string> {
  const room = { files: maxFiles };
  yield* permutation(folder, room, 0);
}

async function* permutation(folder: string, room: { files: number }, depth: number): AsyncGenerator<string> {
  if (depth > maxFolderDepth) throw unusable(folder, `is more than ${maxFolderDepth} folders deep`);
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.')) yield* permutation(path, room, depth + 1);
    else if (entry.isFile() && /\.(?:json|jsonl|csv)(?:\.gz)?$/i.test(entry.name)) {
      if (--room.files < 0) throw unusable(folder, `contains more than ${maxFiles} files`);
      yield path;
    }
  }
}

function unusable(path: string, reason: string, cause?: unknown): PortolanError {
  return new PortolanError(
    'invalid_request',
    `${path} ${reason}; nothing was imported`,
    { fields: [{ field: path, reason }] },
    cause,
  );
}

function latest(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

/** A file says nothing about which changes of NVD are included, so the position of the last sync stays. */
function statesOf(
  dates: Map<FeedFormat, string | null>,
  base: GenerationManifest | null,
): Record<string, SourceState> {
  const states = [...dates].map(([format, date]): [string, SourceState] => {
    const mark = base?.sources[format]?.mark ?? null;
    const now = new Date().toISOString();
    return [format, { updated_at: now, data_date: date, mark, etag: null, last_modified: null }];
  });
  return Object.fromEntries(states);
}
