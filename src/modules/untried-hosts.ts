import { groupedNumber } from '../domain/text/grouped-number.ts';
import type { ExecContext } from '../engine/module.ts';

/** Maximum number of distinct reasons; the address of a host in a reason makes no difference. */
const maxReasons = 20;

/** Hosts to which nothing could be sent, or not everything. That may be a whole network, so there is one warning per reason. */
export class UntriedHosts {
  readonly #reasons = new Map<string, { first: string; problem: string; hosts: number; ports: number }>();

  /** @param ports of it that were not tried; 0 = its ports were not looked for */
  note(host: string, problem: string, ports = 0): void {
    // Whoever narrowed the scope has a warning of its own.
    if (problem === 'out_of_scope') return;
    const reason = problem.replaceAll(host, '');
    const known = this.#reasons.get(reason);
    if (known) {
      known.hosts += 1;
      known.ports += ports;
    } else if (this.#reasons.size < maxReasons) {
      this.#reasons.set(reason, { first: host, problem, hosts: 1, ports });
    }
  }

  warn(ctx: Pick<ExecContext, 'warn'>): void {
    for (const { first, problem, hosts, ports } of this.#reasons.values()) {
      const others = hosts > 1 ? `; the same for ${groupedNumber(hosts - 1)} more` : '';
      const left = ports === 0 ? '' : `; ${groupedNumber(ports)} ${ports === 1 ? 'port' : 'ports'} not tried`;
      ctx.warn('not_tried', `${problem}${others}${left}`, first);
    }
    this.#reasons.clear();
  }
}
