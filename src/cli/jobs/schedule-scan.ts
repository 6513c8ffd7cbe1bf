import { bodyOf } from '../scan/remote-scan.ts';
import type { ScanCommand } from '../scan/submission.ts';
import type { Client } from '../session/client.ts';
import { usage } from '../terminal/failure.ts';
import { submitJobCommand } from './job-work.ts';

/** `scan --schedule`: submits the scan as a job of a server and prints its next run times. @returns the exit code */
export async function scheduleScan(
  order: ScanCommand,
  client: Client,
  colors: { color: boolean },
): Promise<number> {
  const { flags, output } = order;
  refuseMeaningless(order);
  const { pool: _pool, ...params } = await bodyOf(order);
  const job = { params, schedule: flags.schedule, pool: flags.pool, name: flags.scanName };
  await submitJobCommand(client, job, output.format, colors);
  return 0;
}

/** Rejects result flags, which would have no effect: there is no result yet. */
function refuseMeaningless({ flags, output }: ScanCommand): void {
  const meaningless = {
    '--output': output.file !== null,
    '--compare-with': flags.compareWith !== undefined,
    '--dry-run': flags.dryRun,
    [`--format ${output.format}`]: output.format !== 'text' && output.format !== 'json',
  };
  const found = Object.entries(meaningless).find(([, given]) => given)?.[0];
  if (found !== undefined) {
    throw usage(
      `${found} cannot be combined with --schedule, which has no result yet; see: portolan job show ID`,
    );
  }
}
