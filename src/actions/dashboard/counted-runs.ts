import { AddressSet } from '../../domain/targets/address-set.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import type { CompletedRun } from '../../store/scans/completed-runs.ts';
import type { ScanTable } from '../../store/scans/scans.ts';

/** The newest run of a series that looked for vulnerabilities, and where. */
export interface EvaluatedRun {
  run: CompletedRun;
  addresses: AddressSet;
  /** Targets that are names: their addresses are in the record. */
  names: number;
}

/** An evaluated run whose findings count on those of its addresses that no newer one has evaluated. */
export interface CountedRun extends EvaluatedRun {
  newer: AddressSet;
}

export function hasEvaluated({ vuln, severity_counts }: CompletedRun): boolean {
  return vuln === 1 || Object.values(severity_counts).some((count) => count > 0);
}

export async function evaluatedRun(
  runs: readonly CompletedRun[],
  scans: Pick<ScanTable, 'request'>,
): Promise<EvaluatedRun | null> {
  const run = runs.find(hasEvaluated);
  const request = run ? await scans.request(run.scan_id) : null;
  if (!run || request === null) return null;
  const { addresses, hostnames, namedNetworks } = parseTargets(request.targets);
  const excluded = parseTargets(request.exclude).covered;
  return { run, addresses: addresses.minus(excluded), names: hostnames.length + namedNetworks.length };
}

/** Newest first, without those of whose addresses newer ones have evaluated all. */
export function countedRuns(runs: readonly EvaluatedRun[]): CountedRun[] {
  let newer = AddressSet.empty;
  return runs
    .toSorted((a, b) => (a.run.completed_at < b.run.completed_at ? 1 : -1))
    .flatMap((each) => {
      const counted = { ...each, newer };
      newer = newer.union(each.addresses);
      return each.names > 0 || each.addresses.minus(counted.newer).size > 0n ? [counted] : [];
    });
}

export function evaluatedAddresses(newer: readonly EvaluatedRun[]): AddressSet {
  return newer.reduce((all, { addresses }) => all.union(addresses), AddressSet.empty);
}
