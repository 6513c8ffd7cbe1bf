/** Types of records (RFC 5246, 6.2.1). */
const changeRecord = 20;
const alertRecord = 21;

/** Alerts about a record that could not be decrypted (RFC 5246, 7.2.2; the second is of TLS 1.0). */
const badRecordMac = 20;
const decryptionFailed = 21;

/**
 * The message that says "encrypted from here on" (RFC 5246, 7.1). Before any key was agreed upon a server has to refuse
 * it; one that obeys encrypts with a key that everybody knows (CVE-2014-0224).
 * @param version of the handshake, `0x0300` to `0x0303`
 */
export function earlyCipherChange(version: number): Buffer {
  return Buffer.from([changeRecord, version >> 8, version & 0xff, 0, 1, 1]);
}

/**
 * Whether a server that said nothing to the first message tried to decrypt the second one, which is as plain as the first:
 * then it has obeyed. @param records what came behind both; null while the next record is not whole
 */
export function acceptedCipherChange(records: Buffer): boolean | null {
  if (records.length < 5) return null;
  const length = records.readUInt16BE(3);
  if (records.length < 5 + length) return null;
  const refusal = records[0] === alertRecord && length === 2 ? records[6] : undefined;
  return refusal === badRecordMac || refusal === decryptionFailed;
}
