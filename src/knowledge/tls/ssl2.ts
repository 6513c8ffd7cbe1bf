/** Maximum size of an SSL 2.0 hello, bytes. */
const helloLimit = 32_767;

/** SSL 2.0 suites by their three-byte code. */
const suites: ReadonlyMap<number, string> = new Map([
  [0x010080, 'SSL2_RC4_128_WITH_MD5'],
  [0x020080, 'SSL2_RC4_128_EXPORT40_WITH_MD5'],
  [0x030080, 'SSL2_RC2_128_CBC_WITH_MD5'],
  [0x040080, 'SSL2_RC2_128_CBC_EXPORT40_WITH_MD5'],
  [0x050080, 'SSL2_IDEA_128_CBC_WITH_MD5'],
  [0x060040, 'SSL2_DES_64_CBC_WITH_MD5'],
  [0x0700c0, 'SSL2_DES_192_EDE3_CBC_WITH_MD5'],
]);

/** SSL 2.0 CLIENT-HELLO that offers all suites. @param challenge 16 bytes */
export function ssl2ClientHello(challenge: Uint8Array): Buffer {
  const ciphers = [...suites.keys()].flatMap((id) => [id >> 16, (id >> 8) & 0xff, id & 0xff]);
  const body = Buffer.from([
    1,
    0,
    2,
    0,
    ciphers.length,
    0,
    0,
    0,
    16,
    ...ciphers,
    ...challenge.subarray(0, 16),
  ]);
  return Buffer.concat([Buffer.from([0x80 | (body.length >> 8), body.length & 0xff]), body]);
}

export interface Ssl2Hello {
  /** Names of the suites that the server accepts. */
  suites: string[];
  /** DER; null if the server sent none. */
  certificate: Buffer | null;
}

/**
 * Reads the SERVER-HELLO of SSL 2.0. @returns null = something else, `more` while incomplete
 */
export function readSsl2Hello(bytes: Buffer): Ssl2Hello | 'more' | null {
  if (bytes.length < 3) return bytes.length > 0 && ((bytes[0] as number) & 0x80) === 0 ? null : 'more';
  const length = bytes.readUInt16BE(0) & helloLimit;
  if (((bytes[0] as number) & 0x80) === 0 || bytes[2] !== 4 || length < 11) return null;
  if (bytes.length < 2 + length) return 'more';
  const body = bytes.subarray(2, 2 + length);
  if (body.readUInt16BE(3) !== 2) return null;
  const certificateEnd = 11 + body.readUInt16BE(5);
  const suitesEnd = certificateEnd + body.readUInt16BE(7);
  if (suitesEnd > body.length) return null;
  const certificate = body.subarray(11, certificateEnd);
  return {
    suites: suiteNames(body.subarray(certificateEnd, suitesEnd)),
    certificate: certificate.length > 0 ? certificate : null,
  };
}

function suiteNames(list: Buffer): string[] {
  const names = new Set<string>();
  for (let at = 0; at + 3 <= list.length; at += 3) {
    const name = suites.get(list.readUIntBE(at, 3));
    if (name) names.add(name);
  }
  return [...names];
}
