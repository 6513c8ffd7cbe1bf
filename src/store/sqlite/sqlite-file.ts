import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { PortolanError } from '../../domain/errors.ts';

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
const resultCode = { busy: 5, readonly: 8, full: 13, cantOpen: 14, notADatabase: 26 } as const;

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
    throw new PortolanError('configuration', openFailure(file, error), { file }, error);
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

function openFailure(file: string, error: unknown): string {
  const { errcode, message } = error as { errcode?: number; message: string };
  if (errcode === resultCode.notADatabase) {
    return `${file} is not a SQLite database. Restore it from a backup, or move it away to start with an empty store.`;
  }
  return `The store ${file} cannot be opened: ${message}`;
}

/** Runs a SQLite call and maps failures that an operator can fix to PortolanError. */
export function translated<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw translateError(error);
  }
}

function translateError(error: unknown): unknown {
  const extended = (error as { errcode?: unknown }).errcode;
  if (typeof extended !== 'number') return error;
  switch (extended & 0xff) {
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
