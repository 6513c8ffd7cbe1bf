import { parseReplies, type Reply } from './reply.ts';

/** Maximum number of extensions and AUTH methods. */
const extensionLimit = 64;

/** Facts about a mail server. `extensions` and the fields after it are set if the server responded to EHLO. */
export interface SmtpFacts {
  code: number;
  /** All lines of the greeting, joined by newlines. */
  greeting: string;
  /** Host name at the start of the greeting. */
  hostname: string | null;
  /** EHLO keywords in upper case, with their parameters: `SIZE 10240000`. */
  extensions?: string[];
  starttls?: boolean;
  auth_methods?: string[];
}

export interface SmtpRecord {
  facts: SmtpFacts;
  /** LMTP (RFC 2033): the server accepts LHLO or its greeting names LMTP. */
  lmtp?: true;
  /** Response to HELP after EHLO, including a rejection. */
  help?: string;
  truncated: boolean;
}

/** Reads the greeting and the response to EHLO (RFC 5321, 3.1 and 4.1.1.1); null = not SMTP. */
export function parseSmtp(bytes: Buffer): SmtpRecord | null {
  const replies = parseReplies(bytes);
  const greeting = replies[0];
  if (!greeting || !speaksSmtp(replies)) return null;
  const facts: SmtpFacts = {
    code: greeting.code,
    greeting: greeting.lines.join('\n'),
    hostname: hostnameOf(greeting.lines[0] ?? ''),
  };
  const ehlo = replies.slice(1).find((reply) => reply.code === 250 && reply.lines.length > 1);
  if (ehlo) Object.assign(facts, readExtensions(ehlo));
  const help = replies.slice(2).find(({ code }) => code === 211 || code === 214 || code >= 500);
  const refused = replies[1] !== undefined && replies[1].code >= 500;
  return {
    facts,
    ...(/\bLMTP\b/.test(facts.greeting) || (refused && ehlo) ? { lmtp: true } : {}),
    ...(help && ehlo === replies[1] ? { help: help.lines.join('\n') } : {}),
    truncated: replies.some((reply) => !reply.complete),
  };
}

/**
 * FTP and SMTP greet alike, so this requires more than the code: the protocol's name, an enhanced status code
 * (RFC 3463), or a response that only a mail server sends.
 */
function speaksSmtp(replies: readonly Reply[]): boolean {
  const [greeting, ...later] = replies;
  if (!greeting || ![220, 421, 450, 451, 521, 554].includes(greeting.code)) return false;
  const text = greeting.lines.join('\n');
  if (/\bFTP/i.test(text)) return false;
  if (/\b(?:E?SMTP|LMTP|Postfix|Exim|Sendmail)\b/i.test(text)) return true;
  if (greeting.code !== 220)
    return /^[45]\.\d\.\d/.test(text) || (greeting.code >= 521 && /mail|spam|smtp/i.test(text));
  return later.some((reply) => {
    const first = reply.lines[0] ?? '';
    if (/^[245]\.\d{1,3}\.\d{1,3} /.test(first)) return true;
    return (
      reply.code === 250 && reply.lines.some((line) => /^(?:SIZE|PIPELINING|8BITMIME|STARTTLS)\b/i.test(line))
    );
  });
}

function hostnameOf(line: string): string | null {
  const name = /^[A-Za-z0-9._-]{1,255}(?= |$)/.exec(line)?.[0];
  return name && /[.]|^localhost$/.test(name) ? name : null;
}

function readExtensions(ehlo: Reply): Pick<Required<SmtpFacts>, 'extensions' | 'starttls' | 'auth_methods'> {
  const extensions = ehlo.lines.slice(1, 1 + extensionLimit).map((line) => {
    const [keyword = '', ...parameters] = line.trim().split(' ');
    return [keyword.toUpperCase(), ...parameters].join(' ');
  });
  const methods = extensions
    .filter((line) => /^AUTH[ =]/.test(line))
    .flatMap((line) => line.slice(5).toUpperCase().split(' '))
    .filter((method) => method !== '');
  return {
    extensions,
    starttls: extensions.some((line) => line === 'STARTTLS' || line.startsWith('STARTTLS ')),
    auth_methods: [...new Set(methods)].slice(0, extensionLimit),
  };
}
