import { groupedNumber } from '../../domain/text/grouped-number.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import type { Plan, PlannedNode } from '../../engine/graph/plan.ts';
import { leastConcurrency } from '../../net/adaptive/concurrency.ts';
import { findsPorts, optionOf, portsOfNode } from '../../scan-run/plan/planned-ports.ts';

/** What a scan sends for discovery and ports, and how long that takes. */
interface TrafficEstimate {
  packets: number;
  seconds: number;
  /** What was assumed, and what limits the speed; in words. */
  basis: string;
}

export interface ScanEstimate {
  /** An upper bound: every address is up and silent. */
  worst: TrafficEstimate;
  /** With services, for a network as networks are. */
  probable: TrafficEstimate;
}

/** What the estimate assumes beyond the plan. */
export interface ScanConditions {
  /** Addresses and host names to scan. */
  hosts: number;
  /** Packets per second, and those while nothing responds: an adaptive rate grows with the responses. */
  rate: number;
  silentRate: number;
  /** TCP ports are scanned by connections, not by raw packets. */
  connects: boolean;
}

/** One in this many addresses of a network is up. */
const addressesPerHost = 10;
/** Fewer addresses than this were named because they are up. */
const fewAddresses = 10;

export function estimateScan(plan: Plan, conditions: ScanConditions): ScanEstimate {
  const senders = plan.nodes.flatMap((node) => senderOf(node, conditions));
  return { worst: worstOf(senders, conditions), probable: probableOf(plan, senders, conditions) };
}

/** A node that sends probes to every address or every live host. */
interface Sender {
  discovers: boolean;
  /** Distinct probes of one host. */
  probes: number;
  /** How often a silent host gets each. */
  tries: number;
  /** Seconds until a probe counts as silent. */
  timeout: number;
  /** Packets per second, and those while nothing responds. */
  rate: number;
  silentRate: number;
  /** Probes at a time; infinite for raw packets. */
  lanes: number;
  /** No response is usual. */
  isUdp: boolean;
}

function senderOf(node: PlannedNode, { hosts, rate, silentRate, connects }: ScanConditions): Sender[] {
  const discovers = node.definition.type === 'discovery' && node.skipped === null;
  if (!discovers && !findsPorts(node)) return [];
  const { tcp, udp } = portsOfNode(node);
  const isRaw = discovers || (node.definition.name === 'syn_scanner' && udp.length === 0 && !connects);
  const hostRate = numberOf(optionOf(node, 'host_rate')) * hosts;
  const most = Math.min(rate, numberOf(optionOf(node, 'rate')) || rate, (isRaw && hostRate) || rate);
  return [
    {
      discovers,
      probes: 'ports' in node.definition.options ? tcp.length + udp.length : 1,
      tries: 1 + numberOf(optionOf(node, 'retries') ?? optionOf(node, 'retry')),
      timeout: secondsOf(optionOf(node, 'timeout')),
      rate: most,
      silentRate: Math.min(most, silentRate),
      lanes: isRaw ? Number.POSITIVE_INFINITY : lanesOf(node),
      isUdp: udp.length > 0,
    },
  ];
}

/** Concurrent probes, at least. */
function lanesOf(node: PlannedNode): number {
  const concurrency = numberOf(optionOf(node, 'concurrency'));
  return concurrency === 0 ? leastConcurrency : concurrency;
}

/** What a sender sends, and how much of it gets no response. */
interface Traffic {
  sender: Sender;
  packets: number;
  silent: number;
}

/** Seconds, and the reason why not fewer. */
interface Span {
  seconds: number;
  limit: string;
}

function worstOf(senders: readonly Sender[], { hosts, silentRate }: ScanConditions): TrafficEstimate {
  const traffic = senders.map((sender): Traffic => {
    const packets = sender.probes * sender.tries * hosts;
    return { sender, packets, silent: packets };
  });
  const who = hosts === 1 ? 'the address is up and silent' : 'all are up and silent';
  return estimateOf(traffic, silentRate, who, 0);
}

/** Closed ports respond; silent hosts and UDP ports get every retry. */
function probableOf(
  plan: Plan,
  senders: readonly Sender[],
  { hosts, silentRate }: ScanConditions,
): TrafficEstimate {
  const up = hosts < fewAddresses ? hosts : Math.ceil(hosts / addressesPerHost);
  const hasDiscovery = senders.some(({ discovers }) => discovers);
  const traffic = senders.map((sender): Traffic => {
    const { probes, tries, isUdp, discovers } = sender;
    const down = discovers || !hasDiscovery ? hosts - up : 0;
    const silent = probes * tries * (down + (isUdp ? up : 0));
    return { sender, packets: silent + (isUdp ? 0 : probes * up), silent };
  });
  const some = hasDiscovery ? '1 address in 10 is up' : '1 address in 10 responds';
  const all = hosts === 1 ? 'the address is up' : 'all are up';
  return estimateOf(traffic, silentRate, up === hosts ? all : some, serviceSeconds(plan));
}

/** The slowest service of a host stays silent for one timeout. */
function serviceSeconds(plan: Plan): number {
  const grabbers = plan.nodes.filter(
    ({ definition, skipped }) => definition.name === 'banner_grabber' && skipped === null,
  );
  return Math.max(0, ...grabbers.map((node) => secondsOf(optionOf(node, 'timeout'))));
}

/** @param rate of discovery, whose targets are mostly silent */
function estimateOf(
  traffic: readonly Traffic[],
  rate: number,
  who: string,
  services: number,
): TrafficEstimate {
  const packets = traffic.reduce((sum, each) => sum + each.packets, 0);
  if (packets === 0) return { packets: 0, seconds: 0, basis: 'nothing to send' };
  const discovery = togetherOf(
    traffic.filter(({ sender }) => sender.discovers),
    rate,
  );
  const ports = traffic.filter(({ sender }) => !sender.discovers).map(spanOf);
  const spans = [discovery, ...ports].sort((a, b) => b.seconds - a.seconds);
  const seconds = services + spans.reduce((sum, span) => sum + span.seconds, 0);
  return {
    packets: Math.min(packets, Number.MAX_SAFE_INTEGER),
    seconds: Math.min(Math.ceil(seconds), Number.MAX_SAFE_INTEGER),
    basis: [who, spans[0]?.limit].filter(Boolean).join('; '),
  };
}

/** Discovery modules run at the same time and share the rate. */
function togetherOf(traffic: readonly Traffic[], rate: number): Span {
  const packets = traffic.reduce((sum, each) => sum + each.packets, 0);
  const spans = [...traffic.map(spanOf), atRate(packets, { rate, silentRate: rate }, false)];
  return spans.reduce((a, b) => (b.seconds > a.seconds ? b : a));
}

/** The slower of the packets at the rate, and the timeouts of those without a response. */
function spanOf({ sender, packets, silent }: Traffic): Span {
  const { lanes, timeout, tries, discovers, isUdp } = sender;
  const grows = !discovers && !isUdp && packets > silent;
  const bySlots = {
    seconds: (silent * timeout) / lanes,
    limit: `${amount(lanes)} at a time wait ${timeout} s`,
  };
  const byTries = {
    seconds: silent > 0 ? tries * timeout : 0,
    limit: `${tries === 1 ? '1 try waits' : `${tries} tries wait`} ${timeout} s`,
  };
  return [atRate(packets, sender, grows), bySlots, byTries].reduce((a, b) => (b.seconds > a.seconds ? b : a));
}

function atRate(
  packets: number,
  { rate, silentRate }: Pick<Sender, 'rate' | 'silentRate'>,
  grows: boolean,
): Span {
  if (!grows || rate === silentRate)
    return { seconds: packets / silentRate, limit: `${amount(silentRate)} packets/s` };
  const limit = `${amount(silentRate)} to ${amount(rate)} packets/s, as responses come`;
  return { seconds: packets / rate, limit };
}

function amount(count: number): string {
  return groupedNumber(count);
}

function secondsOf(duration: unknown): number {
  return typeof duration === 'string' ? (parseDuration(duration) ?? 0) / 1000 : 0;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
