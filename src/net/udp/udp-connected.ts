import { createSocket, type Socket } from 'node:dgram';
import { type Family, formatAddress } from '../../domain/targets/address.ts';
import type { SocketEgress } from '../egress.ts';
import type {
  Datagram,
  IcmpError,
  SendOutcome,
  UdpEndpoint,
  UdpPath,
  UdpResponse,
} from '../packets/linux/udp-socket.ts';

/** Maximum number of open sockets. */
const maxSockets = 512;

/** Bytes kept of one response. */
const keptBytes = 512;

/** The ICMP message behind an errno name. */
const messages: Record<Family, Record<string, { type: number; code: number }>> = {
  4: {
    ECONNREFUSED: { type: 3, code: 3 },
    EHOSTUNREACH: { type: 3, code: 1 },
    ENETUNREACH: { type: 3, code: 0 },
    ENOPROTOOPT: { type: 3, code: 2 },
  },
  6: {
    ECONNREFUSED: { type: 1, code: 4 },
    EHOSTUNREACH: { type: 1, code: 3 },
    ENETUNREACH: { type: 1, code: 0 },
    EACCES: { type: 1, code: 1 },
  },
};

/**
 * Datagrams over one connected socket per endpoint: the kernel reports ICMP errors to connected sockets. For systems
 * without a readable error queue; slower, and a response from another port is missed.
 */
export class ConnectedUdp implements UdpPath {
  readonly family: Family;
  readonly capacity = maxSockets;
  readonly #source: string | undefined;
  #sockets = new Map<string, Socket>();
  #responses: UdpResponse[] = [];
  #errors: IcmpError[] = [];

  /** @param egress of it only the source address: sockets of their own cannot share a port */
  constructor(family: Family, egress: SocketEgress | null = null) {
    this.family = family;
    this.#source = (egress?.source ?? egress?.deviceSource)?.text;
  }

  /** Each endpoint has a source port of its own. */
  enter(): number {
    return 0;
  }

  leave(): void {
    // Endpoints are released one by one.
  }

  send(datagrams: readonly Datagram[]): SendOutcome {
    for (const datagram of datagrams) {
      const key = keyOf(datagram);
      const known = this.#sockets.get(key);
      if (known) this.#again(known, datagram);
      else this.#open(key, datagram);
    }
    return { done: datagrams.length, refused: new Map() };
  }

  answers(): UdpResponse[] {
    return this.#responses.splice(0);
  }

  errors(): IcmpError[] {
    return this.#errors.splice(0);
  }

  release(endpoint: UdpEndpoint): void {
    const key = keyOf(endpoint);
    this.#sockets.get(key)?.close();
    this.#sockets.delete(key);
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
  }

  #open(key: string, { bytes, ...endpoint }: Datagram): void {
    const socket = createSocket(this.family === 4 ? 'udp4' : 'udp6');
    this.#sockets.set(key, socket);
    socket.on('message', (response) => {
      this.#responses.push({ ...endpoint, channel: 0, bytes: response.subarray(0, keptBytes) });
    });
    socket.on('error', (error) => this.#fail(endpoint, error));
    if (this.#source !== undefined) socket.bind({ address: this.#source });
    socket.connect(endpoint.port, this.#hostOf(endpoint), (error?: Error) => {
      if (error) this.#fail(endpoint, error);
      else this.#again(socket, { ...endpoint, bytes });
    });
  }

  #again(socket: Socket, { bytes, ...endpoint }: Datagram): void {
    try {
      socket.send(bytes, (error) => error && this.#fail(endpoint, error));
    } catch (error) {
      this.#fail(endpoint, error);
    }
  }

  /** Other errors leave the endpoint silent. */
  #fail(endpoint: UdpEndpoint, error: unknown): void {
    const message = messages[this.family][(error as { code?: string }).code ?? ''];
    if (message)
      this.#errors.push({ ...endpoint, ...message, channel: 0, from: null, fromDestination: true });
  }

  #hostOf({ address, scopeId }: UdpEndpoint): string {
    const value = BigInt(`0x${Buffer.from(address).toString('hex')}`);
    return formatAddress({ family: this.family, value, zone: scopeId === 0 ? null : String(scopeId) });
  }
}

function keyOf({ address, scopeId, port }: UdpEndpoint): string {
  return `${Buffer.from(address).toString('latin1')}${scopeId}/${port}`;
}
