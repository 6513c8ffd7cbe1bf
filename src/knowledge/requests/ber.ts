/** A value of less than 64 KiB with its tag, in the basic encoding rules of ASN.1 (X.690). */
export function ber(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const length =
    body.length < 0x80
      ? Buffer.from([body.length])
      : body.length < 0x100
        ? Buffer.from([0x81, body.length])
        : Buffer.from([0x82, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([Buffer.from([tag]), length, body]);
}

export const sequence = (...parts: Uint8Array[]) => ber(0x30, ...parts);
export const octets = (value: string) => ber(0x04, Buffer.from(value, 'latin1'));

/** A number below 2^31. */
export function integer(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  let first = 0;
  while (first < 3 && bytes[first] === 0 && (bytes[first + 1] as number) < 0x80) first += 1;
  return ber(0x02, bytes.subarray(first));
}
