import type { Socket } from 'node:net';
import type { Listeners } from './listeners.ts';

const greeting = 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n';

/** A service that is silent until it is released, so that a scan with a long timeout does not end before. */
export class HeldService {
  port = 0;
  #isReleased = false;
  readonly #sockets = new Set<Socket>();

  async listen(listeners: Listeners, host: string): Promise<number> {
    this.port = await listeners.serve((socket) => {
      if (this.#isReleased) socket.end(greeting);
      else this.#sockets.add(socket);
    }, host);
    return this.port;
  }

  release(): void {
    this.#isReleased = true;
    for (const socket of this.#sockets) socket.end(greeting);
  }
}
