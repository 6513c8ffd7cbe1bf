import { lineLengthLimit } from './reply.ts';

/** The greeting of a mailbox server. */
export interface MailboxRecord {
  service: 'imap' | 'pop3';
  /** The greeting line without its mark (`* OK`, `+OK`). */
  greeting: string;
  /** The whole greeting line. */
  line: string;
  /** What an IMAP server tells of itself (RFC 2971), a line `name: value` each. */
  id?: string;
}

/** Pairs of an answer to ID that are read. */
const idPairLimit = 32;

/**
 * Recognizes IMAP (RFC 9051, 7.1: `* OK`, `* PREAUTH`, `* BYE`) and POP3 (RFC 1939: `+OK text`) greetings. POP3
 * shares `+OK` with Redis, so a bare one counts only when a POP3 probe or nobody asked.
 */
export function parseMailbox(bytes: Buffer, probe: string): MailboxRecord | null {
  const line = firstLine(bytes);
  const imap = /^\* (?:OK|PREAUTH|BYE) ?(.*)$/.exec(line);
  if (imap) {
    const id = imapIdentity(bytes);
    return { service: 'imap', greeting: imap[1] as string, line, ...(id === null ? {} : { id }) };
  }
  const pop3 = /^\+OK ?(.*)$/.exec(line);
  if (!pop3) return null;
  const greeting = pop3[1] as string;
  const named = /\bPOP|dovecot|mailbox|<[^ <>]{1,128}@[^ <>]{1,128}>/i.test(greeting);
  return named || probe === 'null' || probe === 'pop3' ? { service: 'pop3', greeting, line } : null;
}

/** The list behind `* ID`, pairs of quoted texts; a value may be NIL. */
function imapIdentity(bytes: Buffer): string | null {
  const text = bytes.toString('latin1', 0, 16_384);
  const list = /^\* ID \(([^\r\n]{1,2048})\)\r?$/im.exec(text)?.[1];
  if (list === undefined) return null;
  const parts = [...list.matchAll(/"((?:[^"\\]|\\.){0,256})"|NIL/gi)].slice(0, 2 * idPairLimit);
  const lines: string[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [name, value] = [parts[at]?.[1], parts[at + 1]?.[1]];
    if (name !== undefined && value !== undefined) lines.push(`${name.toLowerCase()}: ${value}`);
  }
  return lines.length === 0 ? null : lines.join('\n');
}

/** The first line without its end, at most `lineLengthLimit` characters. */
export function firstLine(bytes: Buffer): string {
  const text = bytes.toString('latin1', 0, lineLengthLimit);
  return text.split('\n', 1)[0]?.replace(/\r$/, '') ?? '';
}
