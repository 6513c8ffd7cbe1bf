import { closeSync, openSync } from 'node:fs';
import type { StartedServer } from '../wiring.ts';

/**
 * SIGHUP reloads the configuration of a server. The kernel also sends it when the terminal of the server closes; the
 * server then stops, as with Ctrl-C, instead of running on unseen.
 */
export class HangUp {
  readonly #stop: () => void;
  readonly #hadTerminal = hasTerminal();
  #server: StartedServer | null = null;
  #asked = false;

  constructor(stop: () => void) {
    this.#stop = stop;
    process.on('SIGHUP', this.#take);
  }

  /** Starts handling; a reload requested during the start happens now. */
  reloads(server: StartedServer): void {
    this.#server = server;
    if (this.#asked) void server.reload();
  }

  release(): void {
    process.off('SIGHUP', this.#take);
  }

  readonly #take = (): void => {
    if (this.#hadTerminal && !hasTerminal()) return this.#stop();
    this.#asked = true;
    void this.#server?.reload();
  };
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
