import type { PortEndpoint } from '../../../actions/results/explain-port.ts';
import type { PlannedProbes, ProbePlan, Silence } from '../../../actions/results/explain-silence.ts';
import { filteredBy, shownReason } from '../../../domain/port-reason-texts.ts';
import { namedReason, type PortReason } from '../../../domain/port-reasons.ts';
import type { HostRow } from '../../../domain/result.ts';
import { placeText } from '../../results/place-text.ts';
import { amountText, countText } from '../../terminal/draw/amounts.ts';
import { printable } from '../../terminal/draw/printable.ts';
import { paint } from '../../terminal/draw/style.ts';
import { type ExplainView, hostHeadline, indentedFacts, scanSource } from './explain-text.ts';

export interface SilentEndpoint {
  scanId: string;
  place: PortEndpoint;
  /** The host, if it responded. */
  host: HostRow | null;
  silence: Silence;
  /** Null if the graph of the scan is no longer installed. */
  probes: ProbePlan | null;
}

/** Why a scan found nothing at an endpoint: what was sent, what did not come back, what to try. */
export function silenceText(endpoint: SilentEndpoint, view: ExplainView): string {
  const { host, place } = endpoint;
  if (host === null) return hostSilence(endpoint, view);
  return place.port === null ? portsSilence(endpoint, host, view) : portSilence(endpoint, host, view);
}

const reasons = {
  out_of_scope: 'it is not among the targets',
  partial: 'the scan ended before',
  port_not_planned: 'it is not among the ports of the scan',
  not_evaluated: 'it was not evaluated',
  record_damaged: 'the record of the scan is damaged',
} as const;

function headline(endpoint: SilentEndpoint, state: string, { style, now }: ExplainView): string {
  const { host, port, protocol } = endpoint.place;
  const place = paint(style, printable(placeText({ host, port, protocol })), 'bold');
  return `${place}  ${printable(state)}  ${scanSource(endpoint.scanId, now)}\n`;
}

/** What an ICMP error of a router about a host means. */
const unreachable = 'a router on the way does not reach it, or rejects these probes';

function hostSilence(endpoint: SilentEndpoint, view: ExplainView): string {
  const { silence, place, probes } = endpoint;
  if (silence.state === 'not_tried') return headline(endpoint, `not tried: ${reasons[silence.reason]}`, view);
  const sent = probes?.discovery ?? [];
  const { errors = [] } = silence;
  return (
    headline(endpoint, 'no response', view) +
    indentedFacts(
      [
        ...sent.map((probe, index): [string, string] => [index === 0 ? 'sent' : '', discoveryText(probe)]),
        ...errors.map((error, index): [string, string] => [index === 0 ? 'got' : '', error]),
        ['so', errors.length > 0 ? unreachable : 'it is down, or a packet filter drops these probes'],
        ['try', `portolan scan ${place.host} --no-discover`],
      ],
      view.style,
    )
  );
}

function portsSilence(endpoint: SilentEndpoint, host: HostRow, view: ExplainView): string {
  const { open = 0, closed = 0, filtered = 0, not_tried = 0 } = host.port_counts ?? {};
  const counts = { open, closed, filtered, 'not tried': not_tried };
  const named = Object.entries(counts).flatMap(([name, count]) =>
    count > 0 ? [`${amountText(count)} ${name}`] : [],
  );
  const facts: [string, string][] = [['ports', named.length > 0 ? named.join(', ') : 'none tried']];
  if (filtered > 0) facts.push(...filteredFacts(endpoint, host));
  return `${hostHeadline(host.host, host, endpoint.scanId, view)}\n${indentedFacts(facts, view.style)}`;
}

function portSilence(endpoint: SilentEndpoint, host: HostRow, view: ExplainView): string {
  const { silence, place } = endpoint;
  if (silence.state === 'not_tried')
    return (
      headline(endpoint, `not tried: ${reasons[silence.reason]}`, view) +
      indentedFacts([['try', `portolan scan ${place.host} --ports ${place.port}`]], view.style)
    );
  const { closed = 0, filtered = 0 } = host.port_counts ?? {};
  const others = `the record counts ${amountText(closed)} closed and ${amountText(filtered)} filtered ports of the host`;
  if (silence.state === 'closed')
    return (
      headline(endpoint, 'closed', view) + indentedFacts([['why', closedWhy(endpoint, host)]], view.style)
    );
  if (silence.state === 'filtered')
    return headline(endpoint, 'filtered', view) + indentedFacts(filteredFacts(endpoint, host), view.style);
  const facts: [string, string][] = [['why', `not open; ${others}`], ...filteredFacts(endpoint, host)];
  return headline(endpoint, 'closed or filtered', view) + indentedFacts(facts, view.style);
}

function closedWhy({ place }: SilentEndpoint, { port_reasons }: HostRow): string {
  const named = place.port === null ? null : namedReason(port_reasons, place.protocol ?? 'tcp', place.port);
  if (named) return `${named.reason === 'rst' ? 'RST' : errorText(named)} came back`;
  return 'RST or an ICMP error came back; no port of the host was filtered';
}

/** What was sent to filtered ports, what came back, what that means and what to try. */
function filteredFacts({ place, probes }: SilentEndpoint, { port_reasons }: HostRow): [string, string][] {
  const named = place.port === null ? null : namedReason(port_reasons, place.protocol ?? 'tcp', place.port);
  const errors = filteredBy(named ? [named] : port_reasons);
  const hasErrors = errors.length > 0;
  return [
    ...(probes?.ports ?? []).map((probe, index): [string, string] => [
      index === 0 ? 'sent' : '',
      sweepText(probe, hasErrors),
    ]),
    ...errors.map((error, index): [string, string] => [
      index === 0 ? 'got' : '',
      named ? errorText(error) : `${errorText(error)}: ${portsOf(error)}`,
    ]),
    ['so', hasErrors ? rejects : drops],
    [
      'try',
      hasErrors
        ? 'scan from inside its network'
        : '--retries 3, --timeout 10s, or scan from inside its network',
    ],
  ];
}

const drops = 'a packet filter drops what is filtered; a closed port would send RST or an ICMP error';
const rejects =
  'a router or packet filter rejects what an ICMP error came about; that is no answer of the port';

/** `admin-prohibited from 10.0.0.254 (ICMP type 3, code 13)` */
function errorText(error: PortReason): string {
  const { icmp } = error;
  return `${printable(shownReason(error))}${icmp ? ` (ICMP type ${icmp.type}, code ${icmp.code})` : ''}`;
}

/** `3 ports: 22 80 443` */
function portsOf({ count, ports }: PortReason): string {
  const which = ports.length > 0 ? `: ${portsText(ports, count)}` : '';
  return `${countText(count, 'port')}${which}`;
}

/** `icmp-echo 3 times, 2 s each: no reply` */
function discoveryText(probe: PlannedProbes): string {
  const { kind, ports } = probe;
  const effort = effortText(probe);
  if (kind === 'icmp') return `icmp-echo ${effort}: no reply`;
  if (kind === 'arp') return `arp ${effort}, where the host is on a network of this machine: no reply`;
  if (kind === 'tcp') return `tcp ${portsText(ports)} ${effort}: no SYN-ACK or RST`;
  return `a module ${effort}: nothing`;
}

/** `3 tcp ports twice, 3 s each: no SYN-ACK, RST or ICMP from those that are filtered` */
function sweepText(probe: PlannedProbes, hasErrors: boolean): string {
  const { kind, ports } = probe;
  const sent = `${countText(ports.length, `${kind} port`)} ${effortText(probe)}`;
  if (hasErrors) return sent;
  const nothing = kind === 'udp' ? 'no datagram or ICMP' : 'no SYN-ACK, RST or ICMP';
  return `${sent}: ${nothing}`;
}

/** `once, 2 s`, `twice, 3 s each` */
function effortText({ times, timeout }: PlannedProbes): string {
  const often = ['never', 'once', 'twice'][times] ?? `${times} times`;
  const wait =
    timeout === ''
      ? ''
      : `, ${timeout.replace(/^(\d+(?:\.\d+)?)(ms|s)$/, '$1 $2')}${times > 1 ? ' each' : ''}`;
  return `${often}${wait}`;
}

/** Ports that are named; more are counted. */
const maxNamedPorts = 4;

function portsText(ports: readonly number[], count = ports.length): string {
  const named = ports.slice(0, maxNamedPorts).join(' ');
  const more = count - Math.min(maxNamedPorts, ports.length);
  return more > 0 ? `${named} and ${amountText(more)} more` : named;
}
