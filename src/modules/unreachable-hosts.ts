import type { ProbeRejection } from '../domain/host.ts';
import { reasonText } from '../domain/port-reasons.ts';
import type { AddressSet } from '../domain/targets/address-set.ts';
import { groupedNumber } from '../domain/text/grouped-number.ts';
import type { ExecContext } from '../engine/module.ts';
import { localAddresses } from '../net/local-addresses.ts';

/** Maximum number of reasons, each with its sender. */
const maxReasons = 20;

/** Hosts that did not respond, and the ICMP errors that came from others about them: one warning per error and sender. */
export class UnreachableHosts {
  readonly #reasons = new Map<string, { first: string; hosts: number }>();
  #own: AddressSet | null = null;

  /** @param rejections about its probes */
  note(host: string, rejections: readonly ProbeRejection[]): void {
    const [rejection] = rejections.filter(({ from }) => from !== null);
    if (!rejection || rejection.from === null) return;
    const { reason, from } = rejection;
    // That a neighbor does not reply to ARP, its own kernel says too.
    this.#own ??= localAddresses();
    if (this.#own.has(from)) return;
    // Each host that sends its own errors would be a reason of its own.
    const text = reasonText({ reason, from: from === host ? 'the host itself' : from });
    const known = this.#reasons.get(text);
    if (known) known.hosts += 1;
    else if (this.#reasons.size < maxReasons) this.#reasons.set(text, { first: host, hosts: 1 });
  }

  warn(ctx: Pick<ExecContext, 'warn'>): void {
    for (const [text, { first, hosts }] of this.#reasons) {
      const others = hosts > 1 ? `; the same for ${groupedNumber(hosts - 1)} more` : '';
      ctx.warn('host_unreachable', `${text}${others}`, first);
    }
    this.#reasons.clear();
  }
}
