import { latin1 } from './request-bytes.ts';

/** Requests to control systems that go over UDP too, and how their responses begin. Each reads one name. */

/** Sender context of EtherNet/IP, repeated by the response. */
const context = latin1('PORTOLAN');

/** Encapsulation header of EtherNet/IP with the command ListIdentity (CIP volume 2, section 2-4.2). */
export const listIdentity = Buffer.concat([
  Buffer.from([0x63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
  context,
  Buffer.alloc(4),
]);

export function isIdentity(bytes: Uint8Array): boolean {
  return bytes.length >= 24 && bytes[0] === 0x63 && Buffer.compare(bytes.subarray(12, 20), context) === 0;
}

/** ReadProperty of the vendor name of the device with the unconfigured instance: ANSI/ASHRAE 135 section 15.5. */
export const bacnetVendor = Buffer.from('810a001101040005010c0c023fffff1979', 'hex');

/** A BACnet/IP message (annex J) whose length is that of the datagram. */
export function isBacnet(bytes: Uint8Array): boolean {
  return bytes.length >= 8 && bytes[0] === 0x81 && 256 * (bytes[2] ?? 0) + (bytes[3] ?? 0) === bytes.length;
}

/** Controller Data Read of FINS, command 05 01. */
export const finsController = Buffer.from('800002000000006300ef050100', 'hex');

/** With the response flag and our service id. */
export function isFinsResponse(bytes: Uint8Array): boolean {
  const flags = bytes[0] ?? 0;
  return (
    bytes.length >= 14 && (flags & 0x40) !== 0 && bytes[9] === 0xef && bytes[10] === 5 && bytes[11] === 1
  );
}
