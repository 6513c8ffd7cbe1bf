import { elementAt } from './der-reader.ts';

/** The relevant fields of a session. */
export interface SessionFacts {
  /** Session ticket (RFC 5077, RFC 8446, 4.6.1); null if the server stores its sessions itself. */
  ticket: Buffer | null;
  /** Ticket lifetime hint, seconds; null if the server sends none. */
  lifetime: number | null;
  /** Maximum size of TLS 1.3 early data, bytes; 0 = none. */
  earlyData: number;
}

/** Tags of session fields in OpenSSL's encoding. */
const fieldTags = { lifetime: 0xa9, ticket: 0xaa, earlyData: 0xaf } as const;

/** Maximum number of session elements, with room for future ones. */
const fieldLimit = 64;

/** Maximum size of the host prefix that newer Node.js versions put before a session, bytes. */
const noteLimit = 512;

/** Start of every session: a sequence whose first number is 1. */
const firstNumber = Buffer.from([0x02, 0x01, 0x01]);

/** Reads a session in OpenSSL's DER encoding as Node.js exposes it; null = not a session. */
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

/** Length of the session id that the client chooses to see whether the server echoes it, bytes; at most 32. */
export const sessionNameBytes = 16;

/**
 * Number of bytes that a server sent beyond the client's session id when it resumed the session (CVE-2016-9244); the
 * bytes themselves are discarded. @param repeated session id of the ServerHello
 */
export function bytesBehindName(sent: Uint8Array, repeated: Buffer): number {
  const isRepeated = repeated.length > sent.length && repeated.subarray(0, sent.length).equals(sent);
  return isRepeated ? repeated.length - sent.length : 0;
}
