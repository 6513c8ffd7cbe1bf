/** Record types (RFC 5246, 6.2.1). */
const changeRecord = 20;
const alertRecord = 21;

/** Alerts about a record that cannot be decrypted (RFC 5246, 7.2.2; the second is from TLS 1.0). */
const badRecordMac = 20;
const decryptionFailed = 21;

/**
 * ChangeCipherSpec, which announces encryption (RFC 5246, 7.1). Before key agreement a server must reject it; one that
 * accepts it encrypts with a publicly known key (CVE-2014-0224).
 * @param version of the handshake, `0x0300` to `0x0303`
 */
export function earlyCipherChange(version: number): Buffer {
  return Buffer.from([changeRecord, version >> 8, version & 0xff, 0, 1, 1]);
}

/**
 * Whether a server that sent no response to the first message tried to decrypt the second, which is unencrypted too:
 * then it accepted the change. @param records bytes received after both; null while the next record is incomplete
 */
export function acceptedCipherChange(records: Buffer): boolean | null {
  if (records.length < 5) return null;
  const length = records.readUInt16BE(3);
  if (records.length < 5 + length) return null;
  const refusal = records[0] === alertRecord && length === 2 ? records[6] : undefined;
  return refusal === badRecordMac || refusal === decryptionFailed;
}
