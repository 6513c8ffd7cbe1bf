import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, writeFileAtomic } from './atomic-file.ts';

/** Outcome of a configuration reload. */
export interface ReloadReport {
  /** False: nothing has changed, the previous settings stay in force. */
  ok: boolean;
  /** Keys whose new value is in force, and plugins, graphs and profiles that are new, other or gone. */
  changed: string[];
  /** Keys whose new value requires a restart. */
  needs_restart: string[];
  warnings: string[];
  /** Why it was rejected. */
  problems: string[];
}

/** Outcome that a server leaves for the client that requested the reload. */
export interface ReloadNotice extends ReloadReport {
  /** Process of the server. */
  pid: number;
  /** Reloads of this server so far. */
  count: number;
}

/** Stores the outcome of the last reload in `.reload.json` of the workspace. */
export class ReloadNotices {
  readonly #file: string;
  #count = 0;

  constructor(dir: string) {
    this.#file = fileIn(dir);
  }

  /** @throws PortolanError `insufficient_storage` */
  async write(report: ReloadReport): Promise<void> {
    const notice: ReloadNotice = { pid: process.pid, count: ++this.#count, ...report };
    await writeFileAtomic(this.#file, `${JSON.stringify(notice)}\n`);
  }

  async remove(): Promise<void> {
    await rm(this.#file, { force: true });
  }
}

/** The last reload of a server; null if there was none. */
export async function readReloadNotice(dir: string, pid: number): Promise<ReloadNotice | null> {
  try {
    const notice = JSON.parse(await readFile(fileIn(dir), 'utf8')) as ReloadNotice;
    return notice.pid === pid ? notice : null;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return null;
    throw error;
  }
}

function fileIn(dir: string): string {
  return join(dir, '.reload.json');
}
