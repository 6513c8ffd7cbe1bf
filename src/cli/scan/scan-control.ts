import type { Scan } from '../../domain/scan.ts';
import { shownState } from '../../domain/scan-state.ts';
import { scanPath } from '../results/remote-result.ts';
import { scanSummaryText } from '../results/scan-text.ts';
import { scanOn } from '../session/scan-choice.ts';
import { requireServer } from '../session/server-choice.ts';
import { scanShape } from '../session/server-responses.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { styleOf } from '../terminal/draw/style.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';
import type { ControlFlags } from './control-flags.ts';

/** `scan status`: one scan of a server. */
export async function showScanCommand(id: string, flags: ControlFlags, global: GlobalFlags): Promise<number> {
  const client = await requireServer(flags, global);
  printScan(await client.call('GET', scanPath(await scanOn(client, id)), scanShape), flags, global);
  return 0;
}

/** `scan cancel`, `pause` and `resume`: prints the new state of the scan. */
export async function steerScan(
  verb: 'cancel' | 'pause' | 'resume',
  id: string,
  flags: ControlFlags,
  global: GlobalFlags,
): Promise<number> {
  const client = await requireServer(flags, global);
  const scan = await client.call('POST', `${scanPath(await scanOn(client, id))}/${verb}`, scanShape);
  if (flags.format === 'json') print(printableJson(scan));
  else print(`${printable(`${scan.scan_id} ${shownState(scan)}`)}\n`);
  return 0;
}

function printScan(scan: Scan, { format }: ControlFlags, global: GlobalFlags): void {
  if (format === 'json') print(printableJson(scan));
  else print(scanSummaryText(scan, styleOf(process.stdout, global), Date.now()));
}
