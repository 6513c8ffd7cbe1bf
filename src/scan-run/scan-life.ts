import { machineNow } from '../net/machine-clock.ts';
import { ScanControl } from './control.ts';
import { ScanAbort } from './finalize/failure.ts';
import type { ProcessCommand, ScanStart } from './messages.ts';

/** State of a scan in its process as requested by the server. */
export class ScanLife {
  readonly start: ScanStart;
  /** See ToChild. */
  readonly run: number;
  readonly control: ScanControl;
  readonly #abort = new AbortController();
  #lease: LeaseWatch | null = null;
  /** Paused by the server, whatever the lease says. */
  #paused = false;
  #ended = false;

  constructor({ run, ...start }: ScanStart & { run: number }) {
    const { request, config, listeners, pausedMs, commands } = start;
    this.start = start;
    this.run = run;
    const mostRate = config.scanner.max_rate;
    this.control = new ScanControl({ rate: request.rate, mostRate, listeners, pausedMs });
    // Emptied first: the budget of this second may have been used by others.
    this.control.setLimit(0);
    for (const command of commands) this.apply(command);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  apply(command: ProcessCommand): void {
    if (this.#ended) return;
    const { control } = this;
    switch (command.type) {
      case 'cancel':
        return this.#abort.abort(new ScanAbort('canceled', 'the scan was canceled'));
      case 'pause':
        this.#paused = true;
        return control.hold.hold();
      case 'resume':
        this.#paused = false;
        return this.#goOn();
      case 'rate':
        return control.setLimit(command.rate);
      case 'scope':
        return control.narrow(command.rules);
      case 'lease':
        return this.#renewLease(command.until);
    }
  }

  /** The scan has ended: later commands have no effect. */
  end(): void {
    this.#ended = true;
    this.#lease?.end();
  }

  #renewLease(until: number): void {
    if (this.#lease) return this.#lease.renew(until);
    this.#lease = new LeaseWatch(
      until,
      () => this.control.hold.hold(),
      () => this.#goOn(),
    );
  }

  /** A canceled scan stays silent, and so does one that another worker may own by now. */
  #goOn(): void {
    if (!this.signal.aborted && !this.#paused && !this.#lease?.over) this.control.hold.release();
  }
}

/**
 * Tracks the lease of the parent process, which may be stopped or cut off. Its message may have waited while this
 * process was stopped itself: only the expiry time counts.
 */
class LeaseWatch {
  readonly #onEnd: () => void;
  readonly #onRenewal: () => void;
  #timer: NodeJS.Timeout | undefined;
  over = false;

  constructor(until: number, onEnd: () => void, onRenewal: () => void) {
    this.#onEnd = onEnd;
    this.#onRenewal = onRenewal;
    this.#arm(until - machineNow());
  }

  renew(until: number): void {
    const left = until - machineNow();
    if (left <= 0) return;
    clearTimeout(this.#timer);
    this.#arm(left);
    if (!this.over) return;
    this.over = false;
    this.#onRenewal();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #arm(left: number): void {
    this.#timer = setTimeout(
      () => {
        this.over = true;
        this.#onEnd();
      },
      Math.max(0, left),
    );
  }
}
