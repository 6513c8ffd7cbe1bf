import { elementAt } from './der-reader.ts';

/** What a session holds that a server gave, as far as it matters here. */
export interface SessionFacts {
  /** What the server wants to see again (RFC 5077, RFC 8446, 4.6.1); null when it keeps its sessions itself. */
  ticket: Buffer | null;
  /** Seconds for which the server says that it can be used; null when it says none. */
  lifetime: number | null;
  /** Bytes that a client may send in TLS 1.3 before the handshake is over; 0 = none. */
  earlyData: number;
}

/** Fields of a session as OpenSSL writes it: each in an element with a tag of its own. */
const fieldTags = { lifetime: 0xa9, ticket: 0xaa, earlyData: 0xaf } as const;

/** Elements of a session, with room for more than today's. */
const fieldLimit = 64;

/** Bytes of a note about the host that newer versions of Node.js put before a session. */
const noteLimit = 512;

/** How every session begins: a sequence whose first number is 1. */
const firstNumber = Buffer.from([0x02, 0x01, 0x01]);

/** Reads a session as OpenSSL writes it (DER) and Node.js gives it; null when it is none. */
export function readSession(bytes: Buffer): SessionFacts | null {
  const session = sessionIn(bytes);
  if (session === null) return null;
  const fields = new Map<number, Buffer>();
  let at = 0;
  for (let count = 0; count < fieldLimit && at < session.length; count++) {
    const field = elementAt(session, at);
    if (field === null) return null;
    const inner = elementAt(field.content, 0);
    if (field.tag >= 0xa0 && inner) fields.set(field.tag, inner.content);
    at = field.end;
  }
  const ticket = fields.get(fieldTags.ticket);
  return {
    ticket: ticket && ticket.length > 0 ? ticket : null,
    lifetime: numberIn(fields.get(fieldTags.lifetime)),
    earlyData: numberIn(fields.get(fieldTags.earlyData)) ?? 0,
  };
}

/** The content of the sequence that ends with the last byte. */
function sessionIn(bytes: Buffer): Buffer | null {
  for (let at = 0; at < Math.min(noteLimit, bytes.length); at++) {
    const element = bytes[at] === 0x30 ? elementAt(bytes, at) : null;
    if (element?.end !== bytes.length) continue;
    if (element.content.subarray(0, firstNumber.length).equals(firstNumber)) return element.content;
  }
  return null;
}

function numberIn(content: Buffer | undefined): number | null {
  return content && content.length >= 1 && content.length <= 5 ? content.readUIntBE(0, content.length) : null;
}

/** Bytes of the name that a client gives a session to see whether the server repeats it; the server has room for 32. */
export const sessionNameBytes = 16;

/**
 * How many bytes more than the name of a session a server sent back when it went on with that session (CVE-2016-9244);
 * the bytes themselves are not kept. @param repeated the session id of its hello
 */
export function bytesBehindName(sent: Uint8Array, repeated: Buffer): number {
  const isRepeated = repeated.length > sent.length && repeated.subarray(0, sent.length).equals(sent);
  return isRepeated ? repeated.length - sent.length : 0;
}
