import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Turns of the event loop after which every connection that the kernel had before has been accepted and read. */
const turnsUntilSettled = 10;

/** After an answer that stops a scan, a packet may leave for this long, milliseconds. */
const graceMs = 1000;
/** So long nothing must leave after that, milliseconds. */
const silentMs = 700;

/** Something that a scan did to the field. */
interface Contact {
  /** performance.now() */
  at: number;
  kind: 'connect' | 'data';
  /** `address:port` */
  pair: string;
}

/**
 * Listeners on addresses of loopback that note every connection and every byte that reaches them, so that a test can
 * tell from outside what a scan sent and when.
 */
export class TargetField {
  readonly contacts: Contact[] = [];
  readonly ports: number[] = [];
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  /** @param greeting what each of them says; by default nothing */
  static async open(addresses: readonly string[], portCount: number, greeting = ''): Promise<TargetField> {
    const field = new TargetField();
    const [first, ...others] = addresses as [string, ...string[]];
    while (field.ports.length < portCount) {
      const port = await field.#listen(first, 0, greeting);
      field.ports.push(port);
      for (const address of others) await field.#listen(address, port, greeting);
    }
    return field;
  }

  #listen(address: string, port: number, greeting: string): Promise<number> {
    const server = createServer((socket) => this.#note(socket, address, greeting));
    this.#servers.push(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: address, port, backlog: 512 }, () =>
        resolve((server.address() as { port: number }).port),
      );
    });
  }

  #note(socket: Socket, address: string, greeting: string): void {
    const pair = `${address}:${socket.localPort}`;
    const note = (kind: Contact['kind']) => this.contacts.push({ at: performance.now(), kind, pair });
    note('connect');
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', () => note('data'));
    if (greeting) socket.write(greeting);
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#sockets.size;
  }

  /** What reached addresses with this beginning since a moment of performance.now(). */
  since(at: number, prefix = ''): Contact[] {
    return this.contacts.filter((contact) => contact.at >= at && contact.pair.startsWith(prefix));
  }

  /** Connections to such addresses since a moment of performance.now(). */
  connects(at: number, prefix = ''): Contact[] {
    return this.since(at, prefix).filter(({ kind }) => kind === 'connect');
  }

  /** Notes what reached the kernel before, however long this process stood still. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < turnsUntilSettled; turn++) await nextTurn();
  }

  /**
   * What reaches such addresses while so much time passes, milliseconds. It is told apart by its order, not by the
   * clock: what came before and was noted late by a busy machine is none of it.
   */
  async during(ms: number, prefix = ''): Promise<Contact[]> {
    await this.settled();
    const { length } = this.contacts;
    await sleep(ms);
    await this.settled();
    return this.contacts.slice(length).filter(({ pair }) => pair.startsWith(prefix));
  }

  /** What reaches such addresses although an answer that stops the scan came a second ago. */
  async afterStop(prefix = ''): Promise<Contact[]> {
    await sleep(graceMs);
    return await this.during(silentMs, prefix);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) server.close();
  }
}
