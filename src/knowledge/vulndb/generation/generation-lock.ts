import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PortolanError } from '../../../domain/errors.ts';

/**
 * The exclusive right to change the vulnerability data of a folder: a kernel record lock, through SQLite, on an empty
 * file. It is released when its process ends, even by a crash.
 */
export class GenerationLock {
  readonly #guard: DatabaseSync;

  private constructor(guard: DatabaseSync) {
    this.#guard = guard;
  }

  /**
   * Creates a missing folder.
   *
   * @throws PortolanError `conflict` while another import holds the lock
   */
  static acquire(dir: string): GenerationLock {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const file = join(dir, '.import.guard');
    createPrivate(file);
    const guard = new DatabaseSync(file, { timeout: 0 });
    try {
      guard.exec('begin exclusive');
      return new GenerationLock(guard);
    } catch (error) {
      guard.close();
      const sqliteBusy = 5;
      if (((error as { errcode?: number }).errcode ?? 0) % 256 !== sqliteBusy) throw error;
      throw new PortolanError(
        'conflict',
        'Another import or sync of the vulnerability data is in progress; try again when it has finished.',
      );
    }
  }

  release(): void {
    if (this.#guard.isOpen) this.#guard.close();
  }
}

/** An existing file is not opened: closing it would release the lock that this process may hold. */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
}
