import { createHash, randomBytes } from 'node:crypto';

/** A host key as a server showed it. */
export interface SshHostKey {
  /** `ssh-ed25519`, `rsa-sha2-512`, ... as the key itself names it */
  type: string;
  /** Base64 without padding, as `ssh-keygen -l` prints it. */
  sha256: string;
}

/** The exchange that is asked for; servers that know none of these are not asked. */
export const offeredExchange = /curve25519-sha256/;

/** Largest host key that is read, bytes. */
const hostKeyLimit = 16_384;

const kexinit = 20;
const exchangeInit = 30;
const exchangeReply = 31;

const lists = [
  'curve25519-sha256,curve25519-sha256@libssh.org',
  'ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256,ssh-rsa',
  ...Array<string>(2).fill(
    'aes128-ctr,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com,' +
      'chacha20-poly1305@openssh.com,aes128-cbc,aes256-cbc,3des-cbc',
  ),
  ...Array<string>(2).fill(
    'hmac-sha2-256,hmac-sha2-512,hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha1',
  ),
  ...Array<string>(2).fill('none,zlib@openssh.com,zlib'),
  '',
  '',
];

/**
 * Our algorithms and the first message of the key exchange in one (RFC 4253 section 7.1, RFC 8731 section 3). The server
 * answers with its host key; nobody logs in, and the exchange is not finished.
 */
export function keyExchangeRequest(): Buffer {
  const algorithms = lists.map((list) => sshString(Buffer.from(list, 'latin1')));
  const init = Buffer.concat([Buffer.from([kexinit]), randomBytes(16), ...algorithms, Buffer.alloc(5)]);
  // Nearly every 32 bytes are a public key of curve25519, and the secret is never needed.
  const share = Buffer.concat([Buffer.from([exchangeInit]), sshString(randomBytes(32))]);
  return Buffer.concat([packet(init), packet(share)]);
}

/** The host key in the payload that answers the request, or null (RFC 8731 section 3). */
export function readHostKey(payload: Buffer): SshHostKey | null {
  if (payload[0] !== exchangeReply) return null;
  const key = readString(payload, 1);
  const name = key && readString(key, 0);
  if (!key || key.length > hostKeyLimit || !name || name.length > 64) return null;
  const type = name.toString('latin1');
  if (!/^[a-z0-9@._-]+$/.test(type)) return null;
  return { type, sha256: createHash('sha256').update(key).digest('base64').replace(/=+$/, '') };
}

/** A packet before encryption (RFC 4253 section 6): a multiple of 8 bytes with at least 4 of padding. */
function packet(payload: Buffer): Buffer {
  const padding = 12 - ((payload.length + 5 + 4) % 8);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(1 + payload.length + padding);
  head[4] = padding;
  return Buffer.concat([head, payload, randomBytes(padding)]);
}

function sshString(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function readString(bytes: Buffer, at: number): Buffer | null {
  if (bytes.length - at < 4) return null;
  const length = bytes.readUInt32BE(at);
  return length > bytes.length - at - 4 ? null : bytes.subarray(at + 4, at + 4 + length);
}
