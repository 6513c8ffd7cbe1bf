import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PortolanError } from '../domain/errors.ts';
import type { Signature } from '../knowledge/signatures/signature.ts';
import { folderMode, isMissing, syncFolder, writeFileAtomic } from './atomic-file.ts';

/** Maximum size of a set file, bytes. */
const maxSetBytes = 32 * 1024 * 1024;

/** Maximum number of sets per folder; further ones are skipped and reported. */
const maxSets = 50;

/** Valid set names. */
export const setName = /^[a-z0-9][a-z0-9_-]{0,39}$/;

/** Origin of a set: `added` from a file of the native format, `imported` from another, `synced` from a feed. */
export type SetOrigin = 'added' | 'imported' | 'synced';

/** Public facts about an installed set. */
export interface SetHeader {
  name: string;
  origin: SetOrigin;
  /** File names, or the URL without secrets. */
  source: string;
  /** ISO 8601 UTC */
  installed_at: string;
  /** Publication time of synced rules, ISO 8601 UTC, from the server or the file; absent if unknown. */
  published_at?: string;
  signatures: number;
  /** SHA-256 of the stored signatures, hex. */
  sha256: string;
}

export interface SignatureSet {
  header: SetHeader;
  signatures: Signature[];
}

/** A set file starts with a line that contains this mark and the header; the second line has the signatures. */
const formatMark = 1;

/** Sets of signatures in one folder, one file each. Writes are atomic, and a digest detects later changes. */
export class FingerprintSets {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
  }

  /** Names of the sets, sorted; excess ones are reported as a problem. */
  async list(): Promise<{ names: string[]; problems: string[] }> {
    const entries = await readdir(this.dir).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const names = entries.flatMap((entry) => (entry.endsWith('.rules') ? [entry.slice(0, -6)] : []));
    const fitting = names.filter((name) => setName.test(name)).sort();
    const left = fitting.length - maxSets;
    const problems = left > 0 ? [`${this.dir}: more than ${maxSets} sets; ${left} were skipped`] : [];
    return { names: fitting.slice(0, maxSets), problems };
  }

  /** @throws PortolanError `configuration` if the file is damaged, `not_found` */
  async read(name: string): Promise<SignatureSet> {
    const file = this.fileOf(name);
    const bytes = await readSetFile(file);
    const end = bytes.indexOf(0x0a);
    const header = headerOf(bytes.subarray(0, Math.max(0, end)));
    const body = bytes.subarray(end + 1);
    if (header === null || header.name !== name)
      throw damaged(file, 'its first line is not the header of a set');
    if (digestOf(body) !== header.sha256) throw damaged(file, 'its digest does not match');
    return { header, signatures: JSON.parse(body.toString('utf8')) as Signature[] };
  }

  /** Installs a set durably, replacing one of the same name. @throws PortolanError */
  async write(
    facts: Pick<SetHeader, 'name' | 'origin' | 'source' | 'published_at'>,
    signatures: readonly Signature[],
  ): Promise<SetHeader> {
    const body = Buffer.from(JSON.stringify(signatures), 'utf8');
    const header: SetHeader = {
      ...facts,
      installed_at: new Date().toISOString(),
      signatures: signatures.length,
      sha256: digestOf(body),
    };
    const head = Buffer.from(`${JSON.stringify({ portolan_fingerprints: formatMark, ...header })}\n`, 'utf8');
    if (head.length + body.length > maxSetBytes) {
      throw new PortolanError('configuration', `the set ${facts.name} is larger than ${maxSetBytes} bytes`);
    }
    await mkdir(this.dir, { recursive: true, mode: folderMode });
    await writeFileAtomic(this.fileOf(facts.name), Buffer.concat([head, body]));
    return header;
  }

  /** @returns whether it existed */
  async remove(name: string): Promise<boolean> {
    try {
      await rm(this.fileOf(name));
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    await syncFolder(this.dir);
    return true;
  }

  fileOf(name: string): string {
    return join(this.dir, `${name}.rules`);
  }
}

async function readSetFile(file: string): Promise<Buffer> {
  try {
    await using handle = await open(file, 'r');
    const { size } = await handle.stat();
    if (size > maxSetBytes) throw damaged(file, `it is larger than ${maxSetBytes} bytes`);
    return await handle.readFile();
  } catch (error) {
    if (isMissing(error)) throw new PortolanError('not_found', `${file} does not exist`);
    throw error;
  }
}

function headerOf(line: Buffer): SetHeader | null {
  try {
    const { portolan_fingerprints: mark, ...header } = JSON.parse(line.toString('utf8')) as SetHeader & {
      portolan_fingerprints?: unknown;
    };
    return mark === formatMark && typeof header.sha256 === 'string' ? header : null;
  } catch {
    return null;
  }
}

function damaged(file: string, why: string): PortolanError {
  return new PortolanError('configuration', `the fingerprint set ${file} is damaged: ${why}; reinstall it`, {
    file,
  });
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
