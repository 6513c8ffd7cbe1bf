/** A place of the worker inside a server, for a scan that this server runs undivided. */
export class WorkerPlace {
  readonly isSmall: boolean;
  /** Packets per second that the server assigns to the scan. */
  granted = 0;
  /** Current rate limit of the scan, packets per second. */
  rate = 0;
  /** Applies a rate to the process of the scan, once it has one. */
  applyRate: (rate: number) => Promise<void> = async () => undefined;
  readonly #share: () => Promise<void>;
  readonly #leave: () => void;

  /** @param share divides the rate of the worker among its runs */
  constructor(isSmall: boolean, share: () => Promise<void>, leave: () => void) {
    this.isSmall = isSmall;
    this.#share = share;
    this.#leave = leave;
  }

  /** Resolves when the scan has applied its share of the rate, packets per second. */
  async grant(rate: number): Promise<void> {
    this.granted = rate;
    await this.#share();
  }

  /** Resolves when the scan has applied the rate, packets per second. */
  async keep(rate: number): Promise<void> {
    await this.applyRate(rate);
    this.rate = rate;
  }

  release(): void {
    this.#leave();
  }
}
