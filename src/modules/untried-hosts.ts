import type { ExecContext } from '../engine/module.ts';

/** Reasons that are told apart; a host's own address in one makes no difference. */
const maxReasons = 20;

/** Hosts that nothing could be sent to. A whole network may be one, so it is told in one warning for each reason. */
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
