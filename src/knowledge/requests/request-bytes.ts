/** Parts of binary requests, in network byte order. */

export function uint16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [at, value] of values.entries()) bytes.writeUInt16BE(value, at * 2);
  return bytes;
}

export function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4);
  return bytes;
}

export function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** The message with its length in 32 bits before it. */
export function withLength(...message: Uint8Array[]): Buffer {
  const bytes = Buffer.concat(message);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

/** A call of ONC RPC over TCP, RFC 5531 sections 9 and 11, with the id `PORT`. */
export function rpcCall(program: number, version: number, procedure: number): Buffer {
  return uint32(0x80000028, 0x504f5254, 0, 2, program, version, procedure, 0, 0, 0, 0);
}

/** NEGOTIATE_MESSAGE of NTLM (MS-NLMP section 2.2.1.1): no name, no password. */
export function ntlmNegotiation(): Buffer {
  const message = Buffer.alloc(40);
  message.write('NTLMSSP\0', 'latin1');
  message.writeUInt32LE(1, 8);
  // Unicode, the target's name, NTLM, extended session security, version, 128 bits, 56 bits.
  message.writeUInt32LE(0xa2088205, 12);
  return message;
}
