import type { ScanRequest } from '../../domain/scan.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import type { Plan } from '../../engine/plan.ts';

/** Lets the modules of a plan start slow preparation while workspace and store are opened. Sends nothing. */
export function prepareModules({ nodes }: Plan, { targets }: Pick<ScanRequest, 'targets'>): void {
  const { addresses } = parseTargets(targets);
  for (const { skipped, definition, config } of nodes)
    if (skipped === null) definition.prepare?.(config, addresses);
}
