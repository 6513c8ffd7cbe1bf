import { type Port, type PortCounts, zeroWindow } from '../../domain/host.ts';
import { isManyZeroWindows } from './tarpit.ts';

/** Ports of a host that are probed although none shows a sign of life; each one that does allows one more. */
const maxSilentPorts = 64;

/** Fewest silent ports that show a tarpit if it accepts nearly every port; an honest host has a few of them. */
const leastSilentPorts = 16;

/** Most ports with a sign of life among those, and fewest open ports among the planned ones, as shares. */
const aliveShare = 0.1;
const openShare = 0.9;

/** The same bytes on the usual ports of this many other services come from something in front of all ports. */
const leastUsualServices = 8;

/** Different responses per host that are compared. */
const maxResponses = 1024;

/** What the probes of an open port showed. */
export interface PortSign {
  /** The start of what it sent; empty = nothing came back. */
  response: string;
  /** Service that the response identifies, or null. */
  service: string | null;
  /** Service that is usual on the port, or null. */
  usual: string | null;
  /** The probes had too little time: silence shows nothing. */
  short: boolean;
}

/**
 * What the open TCP ports of one host show when they are probed, and whether it is a tarpit: decided by what it sends,
 * not by how many of its ports are open. A SYN/ACK with window 0, silence after every handshake and the same bytes
 * everywhere are no signs of life.
 */
export class HostEvidence {
  /** As the sweep of the host ended; null until then. */
  counts: PortCounts | null = null;
  /** Ports that wait for the end of others. */
  readonly held: Port[] = [];
  /** Ports that were not probed. */
  left = 0;
  /** Open ports so far, and those of them that are done. */
  seen = 0;
  done = 0;
  #running = 0;
  #alive = 0;
  /** Ports with a response that others have too. */
  #alike = 0;
  /** Silent ports whose probes had too little time. */
  #short = 0;
  readonly #silent: Port[] = [];
  /** Ports that are probed and count as alive already. */
  readonly #speaking = new Set<number>();
  /** By response, the services usual on the ports that sent it and identified as another one. */
  readonly #responses = new Map<string, Set<string>>();

  /** Whether no probe is running that could change the evidence. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Whether one more port is probed. */
  get hasRoom(): boolean {
    return this.#running + this.lifeless + this.#short < maxSilentPorts + this.#alive;
  }

  begin(): void {
    this.#running += 1;
  }

  /** Takes the first bytes of a port for a sign of life, before its probes have ended. */
  noteFirst(port: Port, sign: PortSign): void {
    if (this.#speaking.has(port.port) || this.#isAlike(sign)) return;
    this.#speaking.add(port.port);
    this.#alive += 1;
  }

  /** @param sign null = the port could not be reached */
  end(port: Port, sign: PortSign | null): void {
    this.#running -= 1;
    if (this.#speaking.delete(port.port) || sign === null) return;
    if (sign.response !== '') {
      if (this.#isAlike(sign)) this.#alike += 1;
      else this.#alive += 1;
    } else if (sign.short) this.#short += 1;
    else this.#silent.push(port);
  }

  /** Ports that accepted the connection and showed no sign of life. */
  get silent(): readonly Port[] {
    return this.#silent;
  }

  /** Probed ports without a sign of life of their own. */
  get lifeless(): number {
    return this.#silent.length + this.#alike;
  }

  /** Why ports are left out: silence for lack of time shows nothing. */
  get whyLeft(): 'tarpit' | 'timeout' {
    return this.lifeless >= this.#short || this.counts?.all_ports_open ? 'tarpit' : 'timeout';
  }

  get isTarpit(): boolean {
    const silent = this.#silent.length;
    if (this.left > 0 && this.whyLeft === 'tarpit') return true;
    if (this.#isSilentThroughout()) return true;
    const zeroWindows = this.#silent.filter(({ reason }) => reason === zeroWindow).length;
    if (zeroWindows > this.#alive && isManyZeroWindows(zeroWindows, this.#others)) return true;
    // What the sweep says holds until as many ports show a sign of life.
    return (this.counts?.all_ports_open ?? false) && this.#alive <= silent;
  }

  get #others(): number {
    const { closed = 0, filtered = 0 } = this.counts ?? {};
    return closed + filtered;
  }

  #isSilentThroughout(): boolean {
    const silent = this.#silent.length;
    if (silent < leastSilentPorts || this.#alive > aliveShare * silent) return false;
    const { open, not_tried } = this.counts ?? { open: this.seen, not_tried: 0 };
    return open > openShare * (open + not_tried + this.#others);
  }

  /** Whether other ports sent the same, although it identifies no service, or one that is usual on none of them. */
  #isAlike({ response, service, usual }: PortSign): boolean {
    const before = this.#responses.get(response);
    const services = before ?? new Set<string>();
    if (!before && this.#responses.size < maxResponses) this.#responses.set(response, services);
    if (service === null) return before !== undefined;
    if (usual !== null && usual !== service) services.add(usual);
    return services.size >= leastUsualServices;
  }
}
