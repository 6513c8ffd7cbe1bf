import { errnoName, loadSys, msgDontwait, type Sys } from './sys.ts';

const afNetlink = 16;
const sockRawCloexec = 3 | 0o2000000;
const netlinkRoute = 0;

const headerBytes = 16; // struct nlmsghdr
const addressBytes = 12; // struct sockaddr_nl
/** Twice the size of a kernel response. */
const responseBytes = 65_536;

const flag = { request: 0x001, multipart: 0x002, dump: 0x300 };
const control = { error: 2, done: 3 };

/** Rejected by the kernel, by errno. */
export class NetlinkError extends Error {
  readonly errno: number;

  constructor(errno: number) {
    super(`netlink: ${errnoName(errno)}`);
    this.name = 'NetlinkError';
    this.errno = errno;
  }
}

/** A message of the kernel: its type and what follows the header. */
interface NetlinkMessage {
  type: number;
  body: Buffer;
}

/** Attributes by type (struct rtattr); of several of one type the last. */
export type Attributes = ReadonlyMap<number, Buffer>;

/**
 * One rtnetlink(7) request and its response.
 * @throws NetlinkError if the kernel rejects it; Error without netlink
 */
export function requestKernel(type: number, body: Buffer): Buffer {
  const [response] = exchange(type, flag.request, body);
  if (!response) throw new Error('netlink: no response from the kernel');
  return response.body;
}

/** The same for a whole table, item by item. */
export function* dumpKernel(type: number, body: Buffer): Generator<Buffer> {
  for (const message of exchange(type, flag.request | flag.dump, body)) yield message.body;
}

/**
 * One socket per request: none is left open, and each belongs to the current network namespace. The kernel responds
 * within the call, so nothing here waits.
 */
function* exchange(type: number, flags: number, body: Buffer): Generator<NetlinkMessage> {
  const sys = loadSys();
  const fd = sys.socket(afNetlink, sockRawCloexec, netlinkRoute);
  if (fd < 0) throw new NetlinkError(sys.errno());
  try {
    const request = Buffer.alloc(headerBytes + body.length);
    request.writeUInt32LE(request.length, 0);
    request.writeUInt16LE(type, 4);
    request.writeUInt16LE(flags, 6);
    request.set(body, headerBytes);
    if (sys.sendto(fd, request, request.length, 0, kernelAddress, addressBytes) < 0) {
      throw new NetlinkError(sys.errno());
    }
    let more = true;
    while (more) {
      more = false;
      for (const { messageType, messageFlags, bytes } of messagesIn(receive(sys, fd))) {
        if (messageType === control.error) {
          const errno = -bytes.readInt32LE(0);
          if (errno !== 0) throw new NetlinkError(errno);
          return;
        }
        if (messageType === control.done) return;
        more = (messageFlags & flag.multipart) !== 0;
        yield { type: messageType, body: bytes };
      }
    }
  } finally {
    sys.close(fd);
  }
}

function* messagesIn(data: Buffer) {
  for (let at = 0; at + headerBytes <= data.length; ) {
    const length = data.readUInt32LE(at);
    if (length < headerBytes || at + length > data.length) return;
    yield {
      messageType: data.readUInt16LE(at + 4),
      messageFlags: data.readUInt16LE(at + 6),
      bytes: data.subarray(at + headerBytes, at + length),
    };
    at += align(length);
  }
}

/** A copy of the next datagram. Accepts only the kernel's, with port 0. */
function receive(sys: Sys, fd: number): Buffer {
  inbox ??= makeInbox(sys);
  const { header, buffer } = inbox;
  buffer.writeUInt32LE(addressBytes, nameLengthAt);
  if (sys.recvmmsg(fd, header, 1, msgDontwait, 0) < 1) throw new NetlinkError(sys.errno());
  if (buffer.readUInt32LE(nameAt + 4) !== 0) return Buffer.alloc(0);
  const length = Math.min(buffer.readUInt32LE(56), responseBytes);
  return Buffer.from(buffer.subarray(dataAt, dataAt + length));
}

const kernelAddress = Buffer.alloc(addressBytes);
kernelAddress.writeUInt16LE(afNetlink, 0);

/** Layout of the memory for one recvmmsg: struct mmsghdr, struct iovec, name, data. */
const nameLengthAt = 8;
const vectorAt = 64;
const nameAt = 80;
const dataAt = 96;

let inbox: { header: number; buffer: Buffer } | null = null;

function makeInbox(sys: Sys): { header: number; buffer: Buffer } {
  const { address, buffer } = sys.memory(dataAt + responseBytes);
  buffer.writeBigUInt64LE(BigInt(address + nameAt), 0);
  buffer.writeBigUInt64LE(BigInt(address + vectorAt), 16);
  buffer.writeBigUInt64LE(1n, 24);
  buffer.writeBigUInt64LE(BigInt(address + dataAt), vectorAt);
  buffer.writeBigUInt64LE(BigInt(responseBytes), vectorAt + 8);
  return { header: address, buffer };
}

/** The attributes that follow the fixed part of a message, or that are nested in another one. */
export function attributesOf(bytes: Buffer, start = 0): Attributes {
  const found = new Map<number, Buffer>();
  for (let at = start; at + 4 <= bytes.length; ) {
    const length = bytes.readUInt16LE(at);
    if (length < 4 || at + length > bytes.length) break;
    found.set(bytes.readUInt16LE(at + 2) & 0x3fff, bytes.subarray(at + 4, at + length));
    at += align(length);
  }
  return found;
}

export function attribute(type: number, value: Uint8Array): Buffer {
  const bytes = Buffer.alloc(align(4 + value.length));
  bytes.writeUInt16LE(4 + value.length, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.set(value, 4);
  return bytes;
}

function align(length: number): number {
  return (length + 3) & ~3;
}
