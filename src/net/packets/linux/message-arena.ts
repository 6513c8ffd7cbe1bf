import { errnoName, errnos, msgDontwait, type Sys } from './sys.ts';

const headerBytes = 64; // struct mmsghdr
const vectorBytes = 16; // struct iovec
/** Offsets in a header. */
const field = { name: 0, nameLength: 8, vector: 16, vectors: 24, control: 32, controlLength: 40, length: 56 };

export interface ArenaShape {
  /** Messages per system call. */
  messages: number;
  /** Room for the socket name of a message; 0 = it has none. */
  nameBytes: number;
  sendBytes: number;
  receiveBytes: number;
  /** Room for the control data of a received message. */
  controlBytes: number;
}

/** Offsets of the parts for one direction, each an array of all messages. */
interface Layout {
  headers: number;
  vectors: number;
  names: number;
  data: number;
  dataBytes: number;
  controls: number;
  end: number;
}

export interface SentMessages {
  /** Number processed, from the first on; less than given if the kernel buffer is full. */
  done: number;
  sent: number;
  /** Why some of these could not be sent, as errno names. */
  refusals: string[];
}

/** The structures of one sendmmsg and one recvmmsg, linked once. */
export class MessageArena {
  readonly #sys: Sys;
  readonly #shape: ArenaShape;
  readonly #address: number;
  readonly #memory: Buffer;
  readonly #send: Layout;
  readonly #receive: Layout;
  #nameLength = 0;

  constructor(sys: Sys, shape: ArenaShape) {
    this.#sys = sys;
    this.#shape = shape;
    this.#send = layoutFrom(0, shape, shape.sendBytes, 0);
    this.#receive = layoutFrom(this.#send.end, shape, shape.receiveBytes, shape.controlBytes);
    const { address, buffer } = sys.memory(this.#receive.end);
    this.#address = address;
    this.#memory = buffer;
    this.#link(this.#send);
    this.#link(this.#receive);
    if (shape.controlBytes === 0) return;
    for (let at = 0; at < shape.messages; at++)
      this.#point(this.#receive.headers + at * headerBytes + field.control, this.#controlAt(at));
  }

  #link({ headers, vectors, names, data, dataBytes }: Layout): void {
    const { messages, nameBytes } = this.#shape;
    for (let at = 0; at < messages; at++) {
      const header = headers + at * headerBytes;
      const vector = vectors + at * vectorBytes;
      if (nameBytes > 0) this.#point(header + field.name, names + at * nameBytes);
      this.#point(header + field.vector, vector);
      this.#memory.writeBigUInt64LE(1n, header + field.vectors);
      this.#point(vector, data + at * dataBytes);
      this.#memory.writeBigUInt64LE(BigInt(dataBytes), vector + 8);
    }
  }

  #point(from: number, to: number): void {
    this.#memory.writeBigUInt64LE(BigInt(this.#address + to), from);
  }

  /** Sets the length of the names in both directions. */
  prepareNames(length: number): void {
    this.#nameLength = length;
    for (let at = 0; at < this.#shape.messages; at++)
      this.#memory.writeUInt32LE(length, at * headerBytes + field.nameLength);
  }

  /** Sends the first messages; one that the kernel rejects does not keep the others. */
  send(fd: number, count: number): SentMessages {
    let done = 0;
    let sent = 0;
    const refusals: string[] = [];
    while (done < count) {
      const taken = this.sendSome(fd, done, count);
      if (taken > 0) {
        done += taken;
        sent += taken;
        continue;
      }
      const errno = this.#sys.errno();
      if (isKernelFull(errno)) break;
      // No route to this destination, forbidden, or the link is down; after a short outage only the first call fails.
      refusals.push(errnoName(errno));
      done += 1;
    }
    return { done, sent, refusals };
  }

  /** One call with the messages from `done` to `count`. @returns how many were sent, -1 on failure */
  sendSome(fd: number, done: number, count: number): number {
    return this.#sys.sendmmsg(fd, this.#address + done * headerBytes, count - done, msgDontwait);
  }

  /** @returns how many messages were received, -1 on failure */
  receive(fd: number, flags = msgDontwait): number {
    const { messages, nameBytes } = this.#shape;
    if (nameBytes > 0) this.#resetReceive();
    return this.#sys.recvmmsg(fd, this.#address + this.#receive.headers, messages, flags, 0);
  }

  /** The kernel overwrites the lengths of names and control data at each receive. */
  #resetReceive(): void {
    const { messages, controlBytes } = this.#shape;
    for (let at = 0; at < messages; at++) {
      const header = this.#receive.headers + at * headerBytes;
      this.#memory.writeUInt32LE(this.#nameLength, header + field.nameLength);
      if (controlBytes > 0) this.#memory.writeUInt32LE(controlBytes, header + field.controlLength);
    }
  }

  sendName(at: number): Buffer {
    return this.#slice(this.#send.names + at * this.#shape.nameBytes, this.#shape.nameBytes);
  }

  /** The first bytes of a message to send. */
  sendData(at: number, length: number): Buffer {
    return this.#slice(this.#send.data + at * this.#send.dataBytes, length);
  }

  setSendLength(at: number, length: number): void {
    this.#memory.writeBigUInt64LE(BigInt(length), this.#send.vectors + at * vectorBytes + 8);
  }

  /** Copies a message to send. @param bytes not more than `sendBytes` */
  write(at: number, bytes: Uint8Array): void {
    this.#memory.set(bytes, this.#send.data + at * this.#send.dataBytes);
    this.setSendLength(at, bytes.length);
  }

  receivedData(at: number): Buffer {
    const { headers, data, dataBytes } = this.#receive;
    const length = this.#memory.readUInt32LE(headers + at * headerBytes + field.length);
    return this.#slice(data + at * dataBytes, Math.min(length, dataBytes));
  }

  receivedName(at: number): Buffer {
    return this.#slice(this.#receive.names + at * this.#shape.nameBytes, this.#shape.nameBytes);
  }

  receivedControl(at: number): Buffer {
    const length = this.#memory.readUInt32LE(this.#receive.headers + at * headerBytes + field.controlLength);
    return this.#slice(this.#controlAt(at), Math.min(length, this.#shape.controlBytes));
  }

  #controlAt(at: number): number {
    return this.#receive.controls + at * this.#shape.controlBytes;
  }

  #slice(offset: number, length: number): Buffer {
    return this.#memory.subarray(offset, offset + length);
  }
}

function layoutFrom(
  headers: number,
  { messages, nameBytes }: ArenaShape,
  dataBytes: number,
  controlBytes: number,
): Layout {
  const vectors = headers + messages * headerBytes;
  const names = vectors + messages * vectorBytes;
  const data = names + messages * nameBytes;
  const controls = data + messages * dataBytes;
  return { headers, vectors, names, data, dataBytes, controls, end: controls + messages * controlBytes };
}

/** Whether a call failed because the kernel has no room for more now. */
export function isKernelFull(errno: number): boolean {
  return errno === errnos.again || errno === errnos.noBuffers;
}
