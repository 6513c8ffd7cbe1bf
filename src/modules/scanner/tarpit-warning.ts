import { groupedNumber } from '../../domain/text/grouped-number.ts';
import type { ExecContext } from '../../engine/module.ts';
import type { HostEvidence } from './host-evidence.ts';

/** Tarpits among the probed hosts. That may be a whole network, so there is one warning. */
export class TarpitWarning {
  #first: string | null = null;
  #hosts = 0;
  #open = 0;
  #lifeless = 0;
  #left = 0;

  note(host: string, { seen, lifeless, left }: HostEvidence): void {
    this.#first ??= host;
    this.#hosts += 1;
    this.#open += seen;
    this.#lifeless += lifeless;
    this.#left += left;
  }

  warn(ctx: Pick<ExecContext, 'warn'>): void {
    if (this.#first === null) return;
    const [open, lifeless, left] = [this.#open, this.#lifeless, this.#left].map(groupedNumber);
    const [who, whose] =
      this.#hosts === 1
        ? [`${this.#first} accepts`, 'its']
        : [`${this.#first} and ${groupedNumber(this.#hosts - 1)} more accept`, 'their'];
    const rest = this.#left > 0 ? `, ${left} were not probed` : '';
    const message = `${who} connections without a service behind them: of ${whose} ${open} open ports ${lifeless} showed no sign of life of their own${rest}`;
    ctx.warn('tarpit', message, this.#first);
  }
}
