import { loadInstalled, withStore } from '../../session/session.ts';
import type { CliWiring } from '../../wiring.ts';
import type { ValueKind } from '../completion/completion-values.ts';
import type { GlobalFlags } from '../globals.ts';
import { print } from '../output.ts';
import { latestScan } from '../scan-argument.ts';

/** Number of scans that a shell offers. */
const newest = 50;

/** Prints what a shell offers, one a line. A shell is no place for errors: then there is nothing. */
export async function printValues(kind: ValueKind, flags: GlobalFlags, wiring: CliWiring): Promise<void> {
  const values = await valuesOf(kind, flags, wiring).catch(() => []);
  print(values.map((value) => `${value}\n`).join(''));
}

async function valuesOf(kind: ValueKind, flags: GlobalFlags, wiring: CliWiring): Promise<string[]> {
  if (kind === 'scans') {
    const { listScans } = await import('../../../actions/scans/list-scans.ts');
    return await withStore(flags, async ({ store }) => {
      const { scans } = await listScans(store, { limit: newest });
      return [latestScan, ...scans.map(({ scan_id }) => scan_id)];
    });
  }
  const { library } = await loadInstalled(wiring, flags);
  return kind === 'profiles' ? library.profileNames() : library.list().map(({ name }) => name);
}
