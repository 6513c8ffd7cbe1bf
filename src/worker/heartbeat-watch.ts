/** Interval at which a scan process is looked at, milliseconds; its heartbeats are more frequent, see `heartbeatMs`. */
const lookMs = 5000;
/** A process without a heartbeat and without processor time for so many looks is ended: a minute. */
const maxStill = 12;
/** The same, however busy it is: ten minutes, as the default of `engine.stall_timeout`. */
const maxSilent = 120;
/** Looks after which it is reported as hanging, before it is ended. */
const reportedStill = 3;

/**
 * Finds a process that stands still: stopped, frozen, or waiting for a disk that does not respond. Looks are counted, not
 * time: while this process stands still too, or the whole machine, there is none. A busy machine, or a long computation, keeps
 * a process from its heartbeats, but not from all processor time.
 */
export class HeartbeatWatch {
  readonly #cpuTicks: () => string;
  readonly #onHang: (seconds: number) => void;
  readonly #timer: NodeJS.Timeout;
  #ticks = '';
  #still = 0;
  #silent = 0;

  /**
   * @param cpuTicks processor time of the process, as text that changes with it
   * @param onHang called with the seconds without a heartbeat: the process is to be ended
   */
  constructor(cpuTicks: () => string, onHang: (seconds: number) => void) {
    this.#cpuTicks = cpuTicks;
    this.#onHang = onHang;
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  /** The process sent something. */
  heard(): void {
    this.#still = 0;
    this.#silent = 0;
  }

  get hangs(): boolean {
    return this.#still >= reportedStill;
  }

  end(): void {
    clearInterval(this.#timer);
    this.heard();
  }

  #look(): void {
    const ticks = this.#cpuTicks();
    this.#still = ticks === this.#ticks ? this.#still + 1 : 0;
    this.#silent += 1;
    this.#ticks = ticks;
    if (this.#still === maxStill || this.#silent === maxSilent) this.#onHang((this.#silent * lookMs) / 1000);
  }
}
