import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PortolanError } from '../domain/errors.ts';
import { createPrivateFile, isMissing, syncFolder, writeFileAtomic } from './atomic-file.ts';
import { isRunning, type ProcessIdentity, processIdentity } from './process-identity.ts';

/** The server that has locked a workspace. */
export interface LockHolder {
  pid: number;
  host: string;
  /** URL of its API. */
  url: string;
}

/** `workspace.lock`. */
interface LockFile extends ProcessIdentity {
  url: string;
  /** ISO 8601 UTC. */
  started_at: string;
}

/**
 * The exclusive right to run the server of a workspace. It consists of two files:
 *
 * - `workspace.lock` identifies the owner, for people and for the command line.
 * - An exclusive record lock of the kernel on the empty file `.workspace.guard` decides races. The kernel releases it
 *   when its process exits, however that happens, so only one server can replace a stale `workspace.lock`. Node.js
 *   only offers such locks through SQLite. Nothing else in this process may open the guard: POSIX drops a process's
 *   record locks when it closes any handle of the file.
 */
export class WorkspaceLock {
  readonly #file: string;
  readonly #guard: DatabaseSync;
  readonly #content: LockFile;

  private constructor(file: string, guard: DatabaseSync, content: LockFile) {
    this.#file = file;
    this.#guard = guard;
    this.#content = content;
  }

  /** @throws PortolanError `configuration` with PID and host if another server owns the workspace */
  static async acquire(dir: string, url: string): Promise<WorkspaceLock> {
    const file = join(dir, 'workspace.lock');
    const guard = await lockGuard(dir, file);
    try {
      const holder = await readLockFile(file);
      if (holder && isRunning(holder) && holder.pid !== process.pid) throw inUse(dir, holder);
      const content = { ...processIdentity(), url, started_at: new Date().toISOString() };
      await writeFileAtomic(file, `${JSON.stringify(content)}\n`);
      return new WorkspaceLock(file, guard, content);
    } catch (error) {
      guard.close();
      throw error;
    }
  }

  /** Publishes the URL of the API, once known. */
  async setUrl(url: string): Promise<void> {
    this.#content.url = url;
    await writeFileAtomic(this.#file, `${JSON.stringify(this.#content)}\n`);
  }

  /** Idempotent. */
  async release(): Promise<void> {
    if (!this.#guard.isOpen) return;
    await rm(this.#file, { force: true });
    await syncFolder(dirname(this.#file));
    this.#guard.close();
  }
}

/** The running server that owns the workspace, or null. Takes no lock. */
export async function findLockHolder(dir: string): Promise<LockHolder | null> {
  const holder = await readLockFile(join(dir, 'workspace.lock'));
  if (holder === null || !isRunning(holder)) return null;
  return { pid: holder.pid, host: holder.host, url: holder.url };
}

async function lockGuard(dir: string, file: string): Promise<DatabaseSync> {
  const path = join(dir, '.workspace.guard');
  createPrivateFile(path);
  const guard = openGuard(path);
  try {
    guard.exec('begin exclusive');
    return guard;
  } catch (error) {
    guard.close();
    throw guardError(dir, await readLockFile(file), error);
  }
}

function openGuard(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw new PortolanError('configuration', `cannot open ${path}: ${(error as Error).message}`, {}, error);
  }
}

function guardError(dir: string, holder: LockFile | null, error: unknown): PortolanError {
  const sqliteBusy = 5;
  if (((error as { errcode?: number }).errcode ?? 0) % 256 === sqliteBusy) return inUse(dir, holder);
  const message = `Cannot lock the workspace ${dir}: ${(error as Error).message}`;
  return new PortolanError('configuration', message, {}, error);
}

function inUse(dir: string, holder: LockFile | null): PortolanError {
  const owner = holder ? `process ${holder.pid} on ${holder.host}` : 'a process that is starting';
  const details = holder ? { pid: holder.pid, host: holder.host } : {};
  return new PortolanError(
    'configuration',
    `The workspace ${dir} is in use by another server: ${owner}. Stop it, or use another workspace.`,
    details,
  );
}

/** Null if missing or damaged. */
async function readLockFile(file: string): Promise<LockFile | null> {
  try {
    const content: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isLockFile(content) ? content : null;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return null;
    throw error;
  }
}

function isLockFile(content: unknown): content is LockFile {
  const { pid, host, url, boot_id, start_ticks } = (content ?? {}) as Record<string, unknown>;
  return (
    typeof pid === 'number' && [host, url, boot_id, start_ticks].every((value) => typeof value === 'string')
  );
}
