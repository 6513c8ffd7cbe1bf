import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';

/** Real TCP services on loopback for scans to find. */
export class Listeners {
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  /** A service that greets with these bytes and ends at the first ones that it gets: a silent one takes a scan 12 s. @returns its port */
  async greet(greeting: string | Buffer): Promise<number> {
    return this.serve((socket) => {
      socket.write(greeting);
      socket.once('data', () => socket.end());
    });
  }

  /** @param host one that no other test scans, for those who count connections. @returns its port */
  async serve(onConnection: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> {
    const server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
      onConnection(socket);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return (server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) server.close();
  }
}

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
