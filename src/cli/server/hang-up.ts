import { closeSync, openSync } from 'node:fs';
import type { StartedServer } from '../wiring.ts';

/**
 * SIGHUP lets a server read its configuration again. It also comes when the terminal that the server was started in is
 * closed; the server then stops, as with Ctrl-C, and does not live on where nobody sees it.
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

  /** From now on; what was asked for during the start is done now. */
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
