import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { EndWriter, WriteEnd } from '../../scan-run/finalize/interrupt-scan.ts';
import type { Store } from '../../store/open.ts';
import type { HeldScan } from '../../store/undivided-results.ts';
import type { ObjectTable } from '../../workspace/result-store/database-objects.ts';
import { databaseResults } from '../../workspace/result-store/open-result-store.ts';
import type { StoredScanLocation } from '../../workspace/result-store/result-store.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** Results of more bytes are stored before the end: a transaction must not take long. */
const mostAtEnd = 32 * 1024 * 1024;
/** Faults of the folder of a scan, or no room for its results. */
const laterCodes: ReadonlySet<string> = new Set(['conflict', 'not_found', 'insufficient_storage']);

export interface EndResultsInput {
  /** Of all tenants. */
  store: Store;
  /** Of all tenants. */
  workspace: Workspace;
  config: Pick<Config, 'workspace' | 'queue'>;
  metrics: Pick<Metrics, 'resultsMoved'>;
  /** The folder of an ended scan is removed: without room in the database a scan does not end. */
  isOnlyCopy?: boolean;
}

/** Who ends a scan. */
export interface EndingRun {
  /** Other servers may have taken it over: nothing is stored then. Null = nobody runs it. */
  held: HeldScan | null;
  /** No attempt was earlier. */
  isFirst: boolean;
}

/**
 * Stores the results of a scan with its end, in the database that servers share: where a scan has ended, every server has them,
 * whatever becomes of the one that ended it.
 */
export class EndResults {
  readonly #input: EndResultsInput;

  constructor(input: EndResultsInput) {
    this.#input = input;
  }

  /** Ends a scan that nobody runs. */
  readonly endWith: EndWriter = async (scanId, write) => {
    const tenant = await this.#input.store.scans.tenantOf(scanId);
    await this.end({ scanId, tenant }, { held: null, isFirst: false }, write);
  };

  /** @returns whether the results are stored; otherwise they will be later */
  async end(place: StoredScanLocation, run: EndingRun, write: WriteEnd): Promise<boolean> {
    const { store, config } = this.#input;
    const size_bytes = await this.#folderOf(place).sizeBytes();
    if (databaseResults(config, store.resultObjects) !== null)
      try {
        return await this.#endStored(place, run, size_bytes, write);
      } catch (error) {
        if (!(error instanceof PortolanError && laterCodes.has(error.code))) throw error;
        if (this.#input.isOnlyCopy && error.code === 'insufficient_storage') throw error;
        // It ends all the same.
      }
    const files = { size_bytes, stored_at: null };
    await store.transaction((inside) => write(inside, files), 'read committed');
    return false;
  }

  async #endStored(
    place: StoredScanLocation,
    run: EndingRun,
    size_bytes: number,
    write: WriteEnd,
  ): Promise<boolean> {
    const { store, metrics } = this.#input;
    const isLarge = size_bytes > mostAtEnd;
    if (isLarge) await this.#keep(place, run, heldObjects(store, run.held));
    const isStored = await store.transaction(async (inside) => {
      const isAccepted = await write(inside, { size_bytes, stored_at: new Date().toISOString() });
      if (isAccepted && !isLarge) await this.#keep(place, run, inside.resultObjects);
      return isAccepted;
    }, 'read committed');
    if (isStored) metrics.resultsMoved('stored');
    else if (isLarge && !(await store.scans.isTaken(place.scanId))) await this.#clear(place);
    return isStored;
  }

  async #keep(place: StoredScanLocation, { isFirst }: EndingRun, objects: ObjectTable): Promise<void> {
    await databaseResults(this.#input.config, objects)?.replace(place, this.#folderOf(place).path, {
      isFirst,
    });
  }

  /** The scan was deleted meanwhile. */
  async #clear(place: StoredScanLocation): Promise<void> {
    const { store, config } = this.#input;
    await databaseResults(config, store.resultObjects)?.remove(place);
  }

  #folderOf({ scanId, tenant }: StoredScanLocation) {
    return this.#input.workspace.forTenant(tenant).scan(scanId);
  }
}

/** Objects that are stored only while nobody else has the scan: its next server has them by the same names. */
function heldObjects(store: Store, held: HeldScan | null): ObjectTable {
  const { resultObjects } = store;
  if (held === null) return resultObjects;
  const whileHeld = async (change: (inside: ObjectTable) => Promise<void>) =>
    await store.transaction(async (inside) => {
      if (await inside.undividedResults.holds(held)) return await change(inside.resultObjects);
      throw new PortolanError('conflict', 'Another server has the scan.');
    }, 'read committed');
  return {
    put: (...part) => whileHeld((inside) => inside.put(...part)),
    putWhole: (objects) => whileHeld((inside) => inside.putWhole(objects)),
    part: (name, part) => resultObjects.part(name, part),
    remove: (name) => whileHeld((inside) => inside.remove(name)),
  };
}
