import type { PortOrder } from './port-order.ts';
import { maxHostsAhead } from './sliced-scan.ts';

/** Hosts that take turns. */
const hostWindow = 64;

/** A host whose ports are handed out. */
export interface TurningHost {
  /** Position of the next port in the order, counted from `first`. */
  next: number;
  /** Start position of this host in the order. */
  first: number;
  /** Ports to be handed out once more. */
  again: number[];
}

/** The pairs of hosts and ports, round-robin: the leading ports of all hosts that are there before the others of any. */
export class HostTurns<H extends TurningHost> {
  readonly #order: PortOrder;
  readonly #leading: H[] = [];
  /** Hosts with other ports only. */
  readonly #others: H[] = [];
  #turn = 0;

  constructor(order: PortOrder) {
    this.#order = order;
  }

  /** Whether further hosts may take part; bounds memory. */
  get hasRoom(): boolean {
    return this.#leading.length < hostWindow && this.#leading.length + this.#others.length < maxHostsAhead;
  }

  add(host: H): void {
    if (!this.#isHandedOut(host)) (this.#leads(host) ? this.#leading : this.#others).push(host);
  }

  /** The next pair, or null if there is none. */
  next(): { host: H; port: number } | null {
    const hosts = this.#leading.length > 0 ? this.#leading : this.#others;
    if (hosts.length === 0) return null;
    this.#turn = (this.#turn + 1) % Math.min(hosts.length, hostWindow);
    const host = hosts[this.#turn] as H;
    const port = host.again.pop() ?? this.#order.at(host.next++, host.first);
    if (this.#isHandedOut(host)) hosts.splice(this.#turn, 1);
    else if (hosts === this.#leading && !this.#leads(host)) {
      hosts.splice(this.#turn, 1);
      this.#others.push(host);
    }
    return { host, port };
  }

  /** Whether it has leading ports left; without such ports all hosts do. */
  #leads({ next }: H): boolean {
    const { leading, length } = this.#order;
    return next < (leading === 0 ? length : leading);
  }

  #isHandedOut({ next, again }: H): boolean {
    return next === this.#order.length && again.length === 0;
  }
}
