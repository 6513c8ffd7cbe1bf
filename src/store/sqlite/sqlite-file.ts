import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { PortolanError } from '../../domain/errors.ts';
import { restoreAdvice } from './backup.ts';

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
const resultCode = { busy: 5, readonly: 8, corrupt: 11, full: 13, cantOpen: 14, notADatabase: 26 } as const;

/**
 * Opens or creates a database file with mode 0600: WAL, each commit durable before it returns.
 *
 * @throws PortolanError `configuration` if the file cannot be opened or is not a SQLite database
 */
export function openDatabaseFile(file: string): DatabaseSync {
  try {
    makePrivate(file);
    return configured(new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints: true }));
  } catch (error) {
    if (isDamage(error)) throw damagedStore(file, error);
    const { message } = error as Error;
    throw new PortolanError(
      'configuration',
      `The store ${file} cannot be opened: ${message}`,
      { file },
      error,
    );
  }
}

/** SQLite gives its `-wal` and `-shm` files the mode of the database file. */
function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

function configured(database: DatabaseSync): DatabaseSync {
  try {
    // Only takes effect while the file has no table, hence first.
    database.exec('pragma auto_vacuum = incremental');
    database.exec('pragma journal_mode = wal');
    database.exec('pragma synchronous = full');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** `configuration`: what is damaged, and what to restore. */
export function damagedStore(file: string, cause: unknown): PortolanError {
  const { message } = (cause instanceof PortolanError ? cause.cause : cause) as Error;
  const text = `The store ${file} is damaged (${message}): ${restoreAdvice(file)}.`;
  return new PortolanError('configuration', text, { file }, cause);
}

/**
 * Runs a SQLite call and maps failures that an operator can fix to PortolanError.
 * @param onDamage called with the reason if the file is damaged
 */
export function translated<T>(call: () => T, onDamage?: (reason: string) => void): T {
  try {
    return call();
  } catch (error) {
    if (isDamage(error)) onDamage?.((error as Error).message);
    throw translateError(error);
  }
}

/** Whether SQLite, or a call that translated its error, has found that the file is damaged. */
export function isDamage(error: unknown): boolean {
  const { errcode } = (error instanceof PortolanError ? error.cause : error) as { errcode?: unknown };
  if (typeof errcode !== 'number') return false;
  const primary = errcode & 0xff;
  return primary === resultCode.corrupt || primary === resultCode.notADatabase;
}

function translateError(error: unknown): unknown {
  const extended = (error as { errcode?: unknown }).errcode;
  if (typeof extended !== 'number') return error;
  switch (extended & 0xff) {
    case resultCode.corrupt:
    case resultCode.notADatabase:
      return new PortolanError(
        'unavailable',
        'The store is damaged; see portolan workspace check.',
        {},
        error,
      );
    case resultCode.full:
      return new PortolanError('insufficient_storage', 'The disk of the workspace is full.', {}, error);
    case resultCode.busy:
      return new PortolanError(
        'unavailable',
        'The store is in use by another process; try again.',
        {},
        error,
      );
    case resultCode.readonly:
    case resultCode.cantOpen:
      return new PortolanError('unavailable', 'The store cannot be opened for writing.', {}, error);
    default:
      return error;
  }
}
