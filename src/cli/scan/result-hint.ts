import type { Scan } from '../../domain/scan.ts';
import { parseAddress } from '../../domain/targets/address.ts';
import { printable } from '../terminal/draw/printable.ts';
import type { ScanFlags } from './submission.ts';

export type HintedScan = Pick<Scan, 'results' | 'error' | 'vuln' | 'targets' | 'stages'>;

/** The command that helps most after this scan; null if none does, or if its flag was given. */
export function hintOf(
  scan: HintedScan,
  { ports, discover, onlyDiscover = false }: Pick<ScanFlags, 'ports' | 'discover' | 'onlyDiscover'>,
): string | null {
  const { results, error, targets, vuln } = scan;
  if (error?.code === 'canceled') return 'see it: portolan workspace show latest';
  const [target] = targets;
  if (error || target === undefined || targets.length > 1) return null;
  if (results.live_hosts === 0) {
    const sameScan = ports === undefined ? printable(target) : printable(`${target} -p ${ports}`);
    return discover && !onlyDiscover ? `its ports all the same: portolan scan ${sameScan} -Pn` : null;
  }
  if (results.open_ports > 0) return vuln ? null : `findings: portolan scan ${printable(target)} --vuln`;
  return hasSilentPorts(scan) && parseAddress(target) ? `why: portolan explain ${printable(target)}` : null;
}

function hasSilentPorts({ stages }: HintedScan): boolean {
  return stages.some(({ coverage }) => (coverage?.filtered ?? 0) > 0);
}
