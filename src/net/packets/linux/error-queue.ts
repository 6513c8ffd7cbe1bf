import type { Family } from '../../../domain/targets/address.ts';
import { socketNames } from './socket-name.ts';
import { type Sys, u32 } from './sys.ts';

const controlHeaderBytes = 16;
const extendedErrorBytes = 16;
/** The address of who sent an error follows it (SO_EE_OFFENDER). */
const offenderAt = controlHeaderBytes + extendedErrorBytes;
/** Origin of an error; 1 would be this machine itself. */
const origins = { icmp: 2, icmp6: 3 } as const;

/** Room for the control data of one error: cmsghdr 16, sock_extended_err 16, address of the sender 28. */
export const errorControlBytes = 128;
export const msgErrqueue = 0x2000;

/** IP_RECVERR (ip(7)) and IPV6_RECVERR (ipv6(7)). */
const receiveErrors = { 4: { level: 0, name: 11 }, 6: { level: 41, name: 25 } } as const;

/** Has the kernel queue the ICMP errors about what a socket sends. @returns false if it does not */
export function queueErrors(sys: Sys, fd: number, family: Family): boolean {
  const { level, name } = receiveErrors[family];
  const on = u32(1);
  return sys.setsockopt(fd, level, name, on, on.length) === 0;
}

/** An ICMP message about what was sent. */
export interface QueuedError {
  type: number;
  code: number;
  /** Who sent it, 4 or 16 bytes; null = unknown. */
  from: Buffer | null;
}

/** Parses control data of the error queue (struct sock_extended_err, ip(7)); null if it is of another kind. */
export function readQueuedError(control: Buffer, family: Family): QueuedError | null {
  const { level, name } = receiveErrors[family];
  if (control.length < offenderAt) return null;
  if (control.readInt32LE(8) !== level || control.readInt32LE(12) !== name) return null;
  const origin = control.readUInt8(controlHeaderBytes + 4);
  if (origin !== origins.icmp && origin !== origins.icmp6) return null;
  const { domain, addressAt, addressEnd } = socketNames[family];
  const isKnown = control.length >= offenderAt + addressEnd && control.readUInt16LE(offenderAt) === domain;
  return {
    type: control.readUInt8(controlHeaderBytes + 5),
    code: control.readUInt8(controlHeaderBytes + 6),
    from: isKnown ? Buffer.from(control.subarray(offenderAt + addressAt, offenderAt + addressEnd)) : null,
  };
}
