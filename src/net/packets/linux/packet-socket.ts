import { afPacket, type Sys } from './sys.ts';

const solSocket = 1;
const soAttachFilter = 26;
const filterHeaderBytes = 16; // struct sock_fprog

/** The kernel copies a program: one place serves all. */
let programMemory: { address: number; buffer: Buffer } | null = null;

/**
 * Attaches a filter to a socket.
 * @param program instructions of a Berkeley Packet Filter, as encoded by `encodeFilter`
 * @returns false if the kernel rejects it
 */
export function attachFilter(sys: Sys, fd: number, program: Buffer): boolean {
  programMemory ??= sys.memory(4096);
  const { address, buffer } = programMemory;
  program.copy(buffer, filterHeaderBytes);
  buffer.writeUInt16LE(program.length / 8, 0);
  buffer.writeBigUInt64LE(BigInt(address + filterHeaderBytes), 8);
  const value = buffer.subarray(0, filterHeaderBytes);
  return sys.setsockopt(fd, solSocket, soAttachFilter, value, value.length) === 0;
}

/**
 * Binds a packet socket (packet(7)).
 * @param protocol EtherType to receive; 0 = nothing
 * @param index of the interface; 0 = all
 * @returns false if the kernel rejects it
 */
export function bindPacketSocket(sys: Sys, fd: number, protocol: number, index: number): boolean {
  const address = Buffer.alloc(20); // struct sockaddr_ll
  address.writeUInt16LE(afPacket, 0);
  address.writeUInt16BE(protocol, 2);
  address.writeInt32LE(index, 4);
  return sys.bind(fd, address, address.length) === 0;
}
