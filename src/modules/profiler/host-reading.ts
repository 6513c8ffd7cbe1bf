import type { Host, Port, PortCounts } from '../../domain/host.ts';
import type { Fingerprint, ParsedService } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { forEachItem } from '../../engine/each.ts';
import { LongWork } from '../../engine/long-work.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';
import {
  factOfStack,
  factsOfBanner,
  factsOfFingerprint,
  factsOfService,
  type HostFact,
} from '../../knowledge/hosts/host-facts.ts';

/** Collects the facts about one host. */
export interface HostReader {
  host?(host: Host): void;
  port?(port: Port): void;
  fingerprint?(fingerprint: Fingerprint): void;
  fact?(fact: HostFact): void;
  /** Called if the host accepts connections on (nearly) every port. */
  acceptsAll?(): void;
}

/** Several profilers read the same response: parse it once. */
const known = new WeakMap<Banner, readonly HostFact[]>();

function bannerFacts(banner: Banner): readonly HostFact[] {
  const facts = known.get(banner) ?? factsOfBanner(banner);
  known.set(banner, facts);
  return facts;
}

/** Optional inputs of profilers. */
export const hostKeys = ['discovered_hosts', 'port_counts', 'banners', 'parsed_services'];

/**
 * Passes everything found about hosts, in any order, to one reader per host. Live hosts without an open port get a
 * reader too.
 */
export async function readHosts<R extends HostReader>(
  ctx: Pick<ExecContext, 'signal' | 'log' | 'instanceId'>,
  data: DataContext,
  newReader: (host: string) => R,
): Promise<Map<string, R>> {
  const readers = new Map<string, R>();
  const of = (host: string): R => {
    const reader = readers.get(host) ?? newReader(host);
    readers.set(host, reader);
    return reader;
  };
  const work = new LongWork();
  const drain = async <T>(key: string, take: (item: T) => void) => {
    if (!data.has(key)) return;
    await forEachItem(ctx, data.stream<T>(key), { concurrency: 1 }, async (item) => {
      take(item);
      if (work.isDue) await work.yield();
    });
  };
  /** By host and protocol: probes may revoke what a sweep has shown, so the last one counts. */
  const tarpits = new Map<string, string>();
  const facts = (host: string, found: () => readonly HostFact[]) => {
    const reader = of(host);
    if (reader.fact) for (const fact of found()) reader.fact(fact);
  };
  // Drain all streams concurrently: a producer must never wait for a reader that waits for another one.
  await Promise.all([
    drain<Host>('discovered_hosts', (host) => {
      const reader = of(host.ip);
      reader.host?.(host);
      if (host.vendor) reader.fact?.({ key: 'mac.vendor', text: host.vendor, source: 'network' });
    }),
    drain<Port>('open_ports', (port) => of(port.host).port?.(port)),
    drain<PortCounts>('port_counts', (counts) => {
      const swept = `${counts.host} ${counts.protocol}`;
      if (counts.all_ports_open) tarpits.set(swept, counts.host);
      else tarpits.delete(swept);
      if (counts.stack) of(counts.host).fact?.(factOfStack(counts.stack));
    }),
    drain<Fingerprint>('service_fingerprints', (fingerprint) => {
      of(fingerprint.host).fingerprint?.(fingerprint);
      facts(fingerprint.host, () => factsOfFingerprint(fingerprint));
    }),
    drain<ParsedService>('parsed_services', (service) => facts(service.host, () => factsOfService(service))),
    drain<Banner>('banners', (banner) => facts(banner.host, () => bannerFacts(banner))),
  ]);
  for (const host of tarpits.values()) of(host).acceptsAll?.();
  return readers;
}
