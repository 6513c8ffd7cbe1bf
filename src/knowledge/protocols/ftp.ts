import { parseReplies, type Reply } from './reply.ts';

/** FEAT lines kept. */
const featureLimit = 64;

/** The facts of a file server. What follows the greeting is there when it was asked. */
export interface FtpFacts {
  code: number;
  /** All lines of the greeting, joined by line ends. */
  greeting: string;
  /** FEAT lines (RFC 2389): `AUTH TLS`, `MLST size*;type*;`. */
  features?: string[];
  /** Answer to SYST: `UNIX Type: L8`. */
  system?: string;
  /** FEAT names AUTH TLS or AUTH SSL, or the server agreed to it (RFC 4217). */
  auth_tls?: boolean;
  /** Anonymous login was accepted (230) or refused (530), when it was tried. */
  anonymous?: boolean;
}

export interface FtpRecord {
  facts: FtpFacts;
  truncated: boolean;
}

/**
 * Reads the greeting and the answers to FEAT, SYST, AUTH TLS and an anonymous login; null = not FTP.
 * @param requests what was sent after the greeting, in order: tells which reply answers which command
 */
export function parseFtp(bytes: Buffer, requests: readonly string[] = []): FtpRecord | null {
  const replies = parseReplies(bytes);
  const greeting = replies[0];
  if (!greeting || !speaksFtp(replies)) return null;
  const facts: FtpFacts = { code: greeting.code, greeting: greeting.lines.join('\n') };
  const later = replies.slice(1);

  const features = later.find((reply) => reply.code === 211 && reply.lines.length > 1);
  if (features) facts.features = readFeatures(features);
  const system = later.find((reply) => reply.code === 215);
  if (system) facts.system = system.lines[0] ?? '';

  const agreed = later.some((reply) => reply.code === 234);
  if (facts.features || agreed) {
    facts.auth_tls = agreed || (facts.features ?? []).some((line) => /^AUTH\b.*\b(?:TLS|SSL)/i.test(line));
  }
  if (requests.some((request) => /^USER (?:anonymous|ftp)\b/im.test(request))) {
    if (later.some((reply) => reply.code === 230)) facts.anonymous = true;
    else if (later.some((reply) => reply.code === 530)) facts.anonymous = false;
  }
  return { facts, truncated: replies.some((reply) => !reply.complete) };
}

/** SMTP greets alike, so the protocol's name or an answer that only a file server gives is asked for. */
function speaksFtp(replies: readonly Reply[]): boolean {
  const [greeting, ...later] = replies;
  if (!greeting || ![120, 220, 421, 530].includes(greeting.code)) return false;
  const text = greeting.lines.join('\n');
  if (/\b(?:E?SMTP|LMTP)\b/i.test(text)) return false;
  if (/FTP|FileZilla|\bfile transfer\b/i.test(text)) return true;
  return later.some((reply) => {
    const first = reply.lines[0] ?? '';
    if (reply.code === 215 || reply.code === 234) return true;
    if (reply.code === 211 && reply.lines.some((line) => /^ ?(?:UTF8|SIZE|MDTM|EPSV|AUTH)\b/.test(line)))
      return true;
    return reply.code === 530 && /log ?in|USER/i.test(first);
  });
}

function readFeatures(reply: Reply): string[] {
  const lines = reply.complete ? reply.lines.slice(1, -1) : reply.lines.slice(1);
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, featureLimit);
}
