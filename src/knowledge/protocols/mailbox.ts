import { lineLengthLimit } from './reply.ts';

/** The greeting of a mailbox server. */
export interface MailboxRecord {
  service: 'imap' | 'pop3';
  /** The greeting line without its mark (`* OK`, `+OK`). */
  greeting: string;
  /** The whole greeting line. */
  line: string;
}

/**
 * Recognises IMAP (RFC 9051, 7.1: `* OK`, `* PREAUTH`, `* BYE`) and POP3 (RFC 1939: `+OK text`) greetings. POP3
 * shares `+OK` with Redis, so a bare one counts only when a POP3 probe or nobody asked.
 */
export function parseMailbox(bytes: Buffer, probe: string): MailboxRecord | null {
  const line = firstLine(bytes);
  const imap = /^\* (?:OK|PREAUTH|BYE) ?(.*)$/.exec(line);
  if (imap) return { service: 'imap', greeting: imap[1] as string, line };
  const pop3 = /^\+OK ?(.*)$/.exec(line);
  if (!pop3) return null;
  const greeting = pop3[1] as string;
  const named = /\bPOP|dovecot|mailbox|<[^ <>]{1,128}@[^ <>]{1,128}>/i.test(greeting);
  return named || probe === 'null' || probe === 'pop3' ? { service: 'pop3', greeting, line } : null;
}

/** The first line without its end, at most `lineLengthLimit` characters. */
export function firstLine(bytes: Buffer): string {
  const text = bytes.toString('latin1', 0, lineLengthLimit);
  return text.split('\n', 1)[0]?.replace(/\r$/, '') ?? '';
}
