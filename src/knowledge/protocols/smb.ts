/** Negotiate response of a Windows or Samba file server. */
export interface SmbRecord {
  /** `1`, `2.0.2`, `2.1`, `3.0`, `3.0.2`, `3.1.1`; `2` when the server requires further negotiation. */
  dialect: string;
  /** The server rejects unsigned messages; null = unknown. */
  signingRequired: boolean | null;
}

const dialects: Record<number, string> = {
  0x0202: '2.0.2',
  0x0210: '2.1',
  0x02ff: '2',
  0x0300: '3.0',
  0x0302: '3.0.2',
  0x0311: '3.1.1',
};

const frame = 4;
const negotiate = 0x72;

/**
 * Negotiate response (MS-CIFS 2.2.4.52.2, MS-SMB2 2.2.4) in its four-byte frame; null = not SMB. A version 1 response
 * that rejects every dialect yields null: the server has version 1 disabled.
 */
export function parseSmb(bytes: Buffer): SmbRecord | null {
  if (bytes.length < frame + 36 || bytes[0] !== 0) return null;
  const mark = bytes.toString('latin1', frame, frame + 4);
  if (mark === '\xfeSMB') return parseSmb2(bytes.subarray(frame));
  if (mark !== '\xffSMB' || bytes[frame + 4] !== negotiate) return null;
  return parseSmb1(bytes.subarray(frame));
}

function parseSmb2(message: Buffer): SmbRecord | null {
  // 64-byte header, then StructureSize 65, SecurityMode, DialectRevision.
  if (message.length < 70 || message.readUInt16LE(12) !== 0 || message.readUInt16LE(64) !== 65) return null;
  const dialect = dialects[message.readUInt16LE(68)];
  if (!dialect) return null;
  return { dialect, signingRequired: (message.readUInt16LE(66) & 2) !== 0 };
}

function parseSmb1(message: Buffer): SmbRecord | null {
  const words = message[32] as number;
  if (message.readUInt32LE(5) !== 0 || words < 1 || message.length < 36) return null;
  if (message.readUInt16LE(33) === 0xffff) return null;
  const securityMode = words === 17 ? (message[35] as number) : null;
  return { dialect: '1', signingRequired: securityMode === null ? null : (securityMode & 8) !== 0 };
}
