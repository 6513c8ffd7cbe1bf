import type { Slowdown } from './gate.ts';

/** Maximum number of slowed hosts that are remembered. */
const maxHosts = 65_536;

/** Hosts that an adaptive rate was slowed for. */
export class Slowdowns {
  readonly #hosts = new Map<string, Slowdown>();

  get hosts(): ReadonlyMap<string, Slowdown> {
    return this.#hosts;
  }

  /** Of several sweeps the extremes count. */
  note(host: string, { shortAt, lowest }: Slowdown): void {
    const before = this.#hosts.get(host) ?? { shortAt, lowest };
    if (this.#hosts.size >= maxHosts && !this.#hosts.has(host)) return;
    this.#hosts.set(host, {
      shortAt: Math.min(before.shortAt, shortAt),
      lowest: Math.min(before.lowest, lowest),
    });
  }
}
