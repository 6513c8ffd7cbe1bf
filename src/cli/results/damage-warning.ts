import type { RecordObserver } from '../../scan-run/results/open-results.ts';
import type { Store } from '../../store/open.ts';
import { printable } from '../terminal/draw/printable.ts';
import { note } from '../terminal/output.ts';

/** Warns on stderr about damaged records. @param store null for a scan that is not stored */
export function damageNote(store: Pick<Store, 'scans'> | null): RecordObserver {
  return {
    isListed: async (scanId) => store === null || (await store.scans.get(scanId)) !== null,
    observed: (scanId, warning) => {
      if (warning) note(`warning: ${scanId}: ${printable(warning.message)}`);
    },
  };
}
