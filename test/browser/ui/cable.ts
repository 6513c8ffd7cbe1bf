import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server on loopback that can be cut while both ends go on. */
export class Cable {
  readonly #to: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  private constructor(to: number) {
    this.#to = to;
  }

  /** @param url of the server */
  static async to(url: string): Promise<Cable> {
    const cable = new Cable(Number(new URL(url).port));
    await cable.mend();
    return cable;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** As `UiService.page`. */
  page(path: string): string {
    return `${this.url}/ui${path}`;
  }

  /** Ends all connections and accepts none. */
  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
    if (server === null) return;
    server.close();
    await once(server, 'close');
  }

  async mend(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(this.#to, '127.0.0.1');
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }
}
