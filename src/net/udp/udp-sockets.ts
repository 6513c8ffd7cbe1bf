import type { Family } from '../../domain/targets/address.ts';
import type { SocketEgress } from '../egress.ts';
import { openFilesLimit } from '../gate/open-files-limit.ts';
import { loadSys } from '../packets/linux/sys.ts';
import {
  type Datagram,
  type IcmpError,
  maxReads,
  type SendOutcome,
  type UdpPath,
  type UdpResponse,
  UdpSocket,
} from '../packets/linux/udp-socket.ts';

/** Maximum number of open sockets of a family: one for each host that is probed side by side. */
const maxSockets = 1024;

/** The part of this process's open files that they may take: one of so many. */
const filesPart = 8;

const pollBytes = 8; // struct pollfd
const pollIn = 0x01;
const pollError = 0x08;

interface Channel {
  socket: UdpSocket;
  hosts: number;
}

/**
 * A socket for every host that is probed: the kernel draws the source port of each at random, and a host sees its own
 * only. So it can neither quote a probe to another host in a forged ICMP error nor respond in its name. Hosts share
 * sockets if a source port is chosen, or if there are more than sockets. Linux.
 */
export class UdpSockets implements UdpPath {
  readonly family: Family;
  readonly capacity = Infinity;
  readonly #egress: SocketEgress | null;
  readonly #limit: number;
  readonly #poll = polls.pop() ?? loadSys().memory(maxSockets * pollBytes);
  readonly #channels: (Channel | undefined)[] = [];
  #open = 0;
  #errors: IcmpError[] = [];
  #isClosed = false;

  private constructor(socket: UdpSocket, egress: SocketEgress | null) {
    this.family = socket.family;
    this.#egress = egress;
    const most = Math.max(1, Math.min(maxSockets, Math.floor(openFilesLimit() / filesPart)));
    // Two sockets of a family cannot have the same port.
    this.#limit = egress && egress.port !== 0 ? 1 : most;
    this.#add(0, socket, 0);
  }

  /** The transport, or why there is none; `unbound` is the errno name if no socket could be bound as chosen. */
  static open(
    family: Family,
    egress: SocketEgress | null,
  ): UdpSockets | { reason: string } | { unbound: string } {
    const socket = UdpSocket.open(family, egress);
    return socket instanceof UdpSocket ? new UdpSockets(socket, egress) : socket;
  }

  /** A socket of its own, else the one with the fewest hosts. */
  enter(): number | { unbound: string } {
    const unused = this.#channels.findIndex((each) => each === undefined || each.hosts === 0);
    const channel = unused < 0 ? this.#channels.length : unused;
    const opened = this.#channels[channel] || this.#open === this.#limit ? null : this.#openAs(channel);
    const found = this.#channels[channel] ? channel : this.#leastUsed();
    if (found !== null) (this.#channels[found] as Channel).hosts += 1;
    return found ?? { unbound: opened ?? 'EMFILE' };
  }

  leave(channel: number): void {
    const left = this.#channels[channel];
    if (!left || --left.hosts > 0) return;
    left.socket.close();
    this.#channels[channel] = undefined;
    this.#open -= 1;
    this.#watch(channel, -1);
  }

  send(datagrams: readonly Datagram[]): SendOutcome {
    const refused = new Map<number, string>();
    let done = 0;
    while (done < datagrams.length) {
      const { channel } = datagrams[done] as Datagram;
      let end = done + 1;
      while (end < datagrams.length && datagrams[end]?.channel === channel) end += 1;
      const { socket } = this.#channels[channel] as Channel;
      done = socket.send(datagrams, done, end, refused);
      if (socket.hasErrors) this.#errors.push(...socket.errors(0));
      if (done < end) break;
    }
    return { done, refused };
  }

  /** Reads responses and errors of all sockets; the errors are returned by `errors`. */
  answers(): UdpResponse[] {
    const { address, buffer } = this.#poll;
    const found: UdpResponse[] = [];
    const ready = loadSys().poll(address, this.#channels.length, 0);
    if (ready <= 0) return found;
    const reads = Math.max(1, Math.floor(maxReads / ready));
    for (let channel = 0; channel < this.#channels.length; channel++) {
      const events = buffer.readInt16LE(channel * pollBytes + 6);
      const socket = this.#channels[channel]?.socket;
      if (events === 0 || !socket) continue;
      if (events & pollIn) for (const response of socket.answers(reads)) found.push(response);
      if (events & pollError) for (const error of socket.errors(reads)) this.#errors.push(error);
    }
    return found;
  }

  errors(): IcmpError[] {
    return this.#errors.splice(0);
  }

  release(): void {
    // The socket of a host serves all its ports.
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const each of this.#channels) each?.socket.close();
    polls.push(this.#poll);
  }

  /** @returns why it could not be opened: an errno name */
  #openAs(channel: number): string | null {
    const socket = UdpSocket.open(this.family, this.#egress, channel);
    if (!(socket instanceof UdpSocket)) return 'unbound' in socket ? socket.unbound : 'EMFILE';
    this.#add(channel, socket, 0);
    return null;
  }

  #add(channel: number, socket: UdpSocket, hosts: number): void {
    this.#channels[channel] = { socket, hosts };
    this.#open += 1;
    this.#watch(channel, socket.fd);
  }

  /** @param fd -1 = none */
  #watch(channel: number, fd: number): void {
    const { buffer } = this.#poll;
    buffer.writeInt32LE(fd, channel * pollBytes);
    buffer.writeInt32LE(pollIn, channel * pollBytes + 4);
  }

  #leastUsed(): number | null {
    let least: number | null = null;
    for (const [channel, each] of this.#channels.entries())
      if (each && each.hosts < (this.#channels[least ?? -1]?.hosts ?? Infinity)) least = channel;
    return least;
  }
}

/** Memory of closed ones, for reuse. */
const polls: { address: number; buffer: Buffer }[] = [];
