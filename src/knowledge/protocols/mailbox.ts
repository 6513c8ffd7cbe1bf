import { lineLengthLimit } from './reply.ts';

export interface MailboxRecord {
  service: 'imap' | 'pop3';
  /** The greeting line without its prefix (`* OK`, `+OK`). */
  greeting: string;
  /** The whole greeting line. */
  line: string;
  /** ID response of an IMAP server (RFC 2971), one line `name: value` each. */
  id?: string;
}

/** Maximum number of pairs read from an ID response. */
const idPairLimit = 32;

/**
 * Recognizes IMAP (RFC 9051, 7.1: `* OK`, `* PREAUTH`, `* BYE`) and POP3 (RFC 1939: `+OK text`) greetings. POP3
 * shares `+OK` with Redis, so a bare one counts only after a POP3 probe or without any probe.
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

/** The list after `* ID`, pairs of quoted strings; a value may be NIL. */
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

/** The first line without its line ending, at most `lineLengthLimit` characters. */
export function firstLine(bytes: Buffer): string {
  const text = bytes.toString('latin1', 0, lineLengthLimit);
  return text.split('\n', 1)[0]?.replace(/\r$/, '') ?? '';
}
