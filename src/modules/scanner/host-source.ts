import type { Host } from '../../domain/host.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';
import { AddressIterator } from '../address-iterator.ts';

/** What a sweep of single hosts reports to. */
export type SweepRecord = Pick<
  ExecContext,
  'signal' | 'progress' | 'restored' | 'recordedCounts' | 'warn' | 'cover' | 'recount'
>;

/** The hosts of a sweep: discovered ones, else every address of the scan. */
export interface HostSource {
  hosts: AddressIterator | AsyncGenerator<string, void, undefined>;
  /** Source of the hosts without discovery. */
  walk: AddressIterator | null;
  /** The hosts are known to be up, so each one is counted even if it stays silent now. */
  knownUp: boolean;
  hostsTotal: number | undefined;
}

/** @param restored state of the iterator in a checkpoint */
export function hostSource(
  { net }: Pick<ExecContext, 'net'>,
  data: DataContext,
  restored: unknown,
): HostSource {
  if (data.has('discovered_hosts')) {
    const hosts = hostTexts(data.stream<Host>('discovered_hosts'));
    return { hosts, walk: null, knownUp: true, hostsTotal: undefined };
  }
  const walk = new AddressIterator(net.addresses, restored);
  return { hosts: walk, walk, knownUp: false, hostsTotal: Number(net.addresses.size) };
}

async function* hostTexts(hosts: AsyncIterable<Host>): AsyncGenerator<string, void, undefined> {
  for await (const host of hosts) yield host.ip;
}
