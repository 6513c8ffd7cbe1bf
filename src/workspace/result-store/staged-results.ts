import type { ResultObjectTable } from '../../store/result-objects.ts';
import { DatabaseObjects } from './database-objects.ts';
import { manifestName } from './manifest.ts';
import type { ObjectContent, ObjectStore } from './object-store.ts';
import { noTenant, ResultStore, type StoreAttempt, type StoredScanLocation } from './result-store.ts';

/** Each waiting scan has one such object. */
const sealName = `/${manifestName}`;
/** Scans listed per statement. */
const namesAtOnce = 200;

/**
 * A result store whose results wait in the shared database until it has them: scans end there, also while it is away, and any
 * server moves them. They are read from either.
 */
export class StagedResults extends ResultStore {
  readonly #objects: ResultObjectTable;
  readonly #stage: ResultStore;
  readonly #target: ResultStore;

  /** @param objects of the database */
  constructor(objects: ResultObjectTable, target: ObjectStore) {
    const stage = new DatabaseObjects(objects);
    super(new StagedObjects(stage, target));
    this.#objects = objects;
    this.#stage = new ResultStore(stage);
    this.#target = new ResultStore(target);
  }

  async countWaiting(): Promise<number> {
    return await this.#objects.countEndingWith(sealName);
  }

  /** Scans that wait in the database. */
  async *waiting(): AsyncGenerator<StoredScanLocation> {
    for (let last = ''; ; ) {
      const names = await this.#objects.namesEndingWith(sealName, last, namesAtOnce);
      for (const name of names) {
        const [tenant = '', scanId = ''] = name.split('/');
        yield { scanId, tenant: tenant === noTenant ? null : tenant };
      }
      last = names.at(-1) ?? last;
      if (names.length < namesAtOnce) return;
    }
  }

  /** Copies a scan to where its results stay. */
  async move(place: StoredScanLocation, attempt: StoreAttempt = {}): Promise<void> {
    await this.#stage.copyTo(this.#target, place, attempt);
  }

  /** Removes what waits in the database. */
  async clearStage(place: StoredScanLocation): Promise<void> {
    await this.#stage.remove(place);
  }
}

class StagedObjects implements ObjectStore {
  readonly #stage: ObjectStore;
  readonly #target: ObjectStore;

  constructor(stage: ObjectStore, target: ObjectStore) {
    this.#stage = stage;
    this.#target = target;
  }

  async put(name: string, content: ObjectContent, signal?: AbortSignal): Promise<void> {
    await this.#target.put(name, content, signal);
  }

  async read(name: string, size: number, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | null> {
    return (await this.#stage.read(name, size, signal)) ?? (await this.#target.read(name, size, signal));
  }

  /** Where it stays first: while that is away nothing is removed. */
  async remove(name: string, signal?: AbortSignal): Promise<void> {
    await this.#target.remove(name, signal);
    await this.#stage.remove(name, signal);
  }
}
