import type { ExecContext } from '../engine/module.ts';

/** Maximum number of distinct reasons; the address of a host in a reason makes no difference. */
const maxReasons = 20;

/** Hosts to which nothing could be sent. That may be a whole network, so there is one warning per reason. */
export class UntriedHosts {
  readonly #reasons = new Map<string, { first: string; problem: string; hosts: number }>();

  note(host: string, problem: string): void {
    const reason = problem.replaceAll(host, '');
    const known = this.#reasons.get(reason);
    if (known) known.hosts += 1;
    else if (this.#reasons.size < maxReasons) this.#reasons.set(reason, { first: host, problem, hosts: 1 });
  }

  warn(ctx: Pick<ExecContext, 'warn'>): void {
    for (const { first, problem, hosts } of this.#reasons.values()) {
      const others = hosts > 1 ? `; the same for ${hosts - 1} more` : '';
      ctx.warn('not_tried', `${problem}${others}`, first);
    }
    this.#reasons.clear();
  }
}
