import { parseReplies, type Reply } from './reply.ts';

/** Maximum number of FEAT lines. */
const featureLimit = 64;

/** Facts about an FTP server. Optional fields are set only if the probe sent their command. */
export interface FtpFacts {
  code: number;
  /** All lines of the greeting, joined by newlines. */
  greeting: string;
  /** FEAT lines (RFC 2389): `AUTH TLS`, `MLST size*;type*;`. */
  features?: string[];
  /** Response to SYST: `UNIX Type: L8`. */
  system?: string;
  /** FEAT names AUTH TLS or AUTH SSL, or the server accepted it (RFC 4217). */
  auth_tls?: boolean;
  /** The server accepted (230) or rejected (530) an anonymous login. */
  anonymous?: boolean;
}

export interface FtpRecord {
  facts: FtpFacts;
  truncated: boolean;
}

/**
 * Reads the greeting and the responses to FEAT, SYST, AUTH TLS and an anonymous login; null = not FTP.
 * @param requests commands sent after the greeting, in order: they match each reply to its command
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

/** SMTP greets alike, so this requires the protocol's name or a response that only a file server sends. */
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
