import { createHash } from 'node:crypto';
import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { markupLimit, readPageFacts } from './html-page.ts';
import { detectTechnologies, type Technology } from './technology.ts';

/** Maximum size of status line and headers, bytes. */
export const headLimit = 64 * 1024;
/** Header lines of a response. */
const headerLimit = 100;
/** Maximum length of a header value, characters. */
const headerValueLimit = 4096;
/** Maximum number of interim responses (1xx) skipped. */
const interimLimit = 5;
/** Maximum size of a body after dechunking and decompression, bytes. */
export const bodyLimit = 1024 * 1024;
/** Maximum length of a chunk-size line with its extensions (RFC 9112, 7.1), bytes. */
const chunkLineLimit = 16 * 1024;
/** DEFLATE never grows data by more than this factor, so a prefix of limit / factor always fits. */
const deflateRatio = 1032;
/** Cookies of a response. */
const cookieLimit = 32;
/** Challenges (`WWW-Authenticate`) of a response. */
const challengeLimit = 8;

/** Facts about one HTTP response. */
export interface HttpFacts {
  /** `1.1`, `1.0`, `2` */
  version: string;
  status: number;
  reason: string;
  /** Names in lower case; values of one name joined by `, `. Without `set-cookie`: see `cookies`. */
  headers: Record<string, string>;
  server: string | null;
  title: string | null;
  location: string | null;
  /** Names of the cookies that the response sets. */
  cookies: string[];
  /** Required authentication. */
  auth: { scheme: string; realm: string | null }[];
  generator: string | null;
  /** Size in bytes and SHA-256 of the body after dechunking and decompression. */
  body_size: number;
  body_sha256: string | null;
  technologies: Technology[];
}

export interface HttpRecord {
  facts: HttpFacts;
  body: Buffer;
  truncated: boolean;
}

/** Start of a page without a status line, the whole response of HTTP/0.9. */
const barePage = /^\s{0,16}<(?:!doctype html|html|head|title|body|frameset)\b/i;

/**
 * Reads one HTTP/1.x response (RFC 9112), skipping interim responses. Null = not HTTP.
 * @param mayBeBare the bytes answer a GET request: a page without a status line is HTTP/0.9, with 200 as status
 */
export function parseHttp(bytes: Buffer, maxBody = bodyLimit, mayBeBare = false): HttpRecord | null {
  let head = readHead(bytes) ?? (mayBeBare ? bareHead(bytes) : null);
  let rest = bytes;
  for (
    let skipped = 0;
    head && head.complete && isInterim(head.status) && skipped < interimLimit;
    skipped++
  ) {
    const next = readHead(rest.subarray(head.end));
    if (!next) break;
    rest = rest.subarray(head.end);
    head = next;
  }
  if (!head) return null;

  const { body, truncated } = readBody(rest.subarray(head.end), head.headers, maxBody);
  const { title, generator } = readPageFacts(body, head.headers.get('content-type') ?? '');
  const facts: HttpFacts = {
    version: head.version,
    status: head.status,
    reason: head.reason,
    // Defines each member, so that `__proto__` is one like the others.
    headers: Object.fromEntries(head.headers),
    server: head.headers.get('server') ?? null,
    title,
    location: head.headers.get('location') ?? null,
    cookies: head.cookies,
    auth: readChallenges(head.challenges),
    generator,
    body_size: body.length,
    body_sha256: body.length > 0 ? createHash('sha256').update(body).digest('hex') : null,
    technologies: detectTechnologies({
      headers: head.headers,
      cookies: head.cookies,
      generator,
      markup: body.toString('latin1', 0, markupLimit).toLowerCase(),
    }),
  };
  return { facts, body, truncated: truncated || !head.complete };
}

interface Head {
  version: string;
  status: number;
  reason: string;
  headers: Map<string, string>;
  cookies: string[];
  challenges: string[];
  /** Offset of the body. */
  end: number;
  complete: boolean;
}

function isInterim(status: number): boolean {
  return status >= 100 && status < 200 && status !== 101;
}

function bareHead(bytes: Buffer): Head | null {
  if (!barePage.test(bytes.toString('latin1', 0, 64))) return null;
  const none = { headers: new Map<string, string>(), cookies: [], challenges: [] };
  return { version: '0.9', status: 200, reason: '', ...none, end: 0, complete: true };
}

function readHead(bytes: Buffer): Head | null {
  const text = bytes.toString('latin1', 0, headLimit);
  const start = /^HTTP\/(\d(?:\.\d)?) +(\d{3})(?: ([^\r\n]{0,512}))?/.exec(text);
  if (!start) return null;
  const head: Head = {
    version: start[1] as string,
    status: Number(start[2]),
    reason: (start[3] ?? '').trim(),
    headers: new Map(),
    cookies: [],
    challenges: [],
    end: text.length,
    complete: false,
  };
  const lines = headerLines(text, head);
  for (const [name, value] of lines) addHeader(head, name, value);
  return head;
}

/** The header lines with continuations (RFC 9112, 5.2) joined; sets `head.end`. */
function headerLines(text: string, head: Head): [string, string][] {
  const lines: [string, string][] = [];
  let position = endOfLine(text, 0).next;
  while (position < text.length) {
    const { end, next } = endOfLine(text, position);
    if (end === position) {
      head.end = next;
      head.complete = true;
      break;
    }
    const line = text.slice(position, Math.min(end, position + headerValueLimit + 256));
    position = next;
    const last = lines.at(-1);
    if ((line[0] === ' ' || line[0] === '\t') && last) {
      if (last[1].length < headerValueLimit) last[1] += ` ${line.trim()}`;
      continue;
    }
    const colon = line.indexOf(':');
    if (colon <= 0 || lines.length >= headerLimit) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(name)) continue;
    lines.push([name, line.slice(colon + 1).trim()]);
  }
  return lines;
}

function endOfLine(text: string, position: number): { end: number; next: number } {
  const newline = text.indexOf('\n', position);
  if (newline === -1) return { end: text.length, next: text.length };
  return { end: newline > position && text[newline - 1] === '\r' ? newline - 1 : newline, next: newline + 1 };
}

function addHeader(head: Head, name: string, value: string): void {
  if (name === 'set-cookie') {
    const cookie = value.slice(0, 256).split('=', 1)[0]?.trim();
    if (cookie && head.cookies.length < cookieLimit && !head.cookies.includes(cookie))
      head.cookies.push(cookie);
    return;
  }
  if (name === 'www-authenticate' && head.challenges.length < challengeLimit) head.challenges.push(value);
  const earlier = head.headers.get(name);
  const joined = earlier === undefined ? value : `${earlier}, ${value}`;
  head.headers.set(name, joined.slice(0, headerValueLimit));
}

function readChallenges(values: readonly string[]): HttpFacts['auth'] {
  return values.map((value) => {
    const scheme = /^[A-Za-z0-9-]{1,64}/.exec(value)?.[0] ?? '';
    const realm = /\brealm="([^"]{0,256})"/i.exec(value)?.[1] ?? null;
    return { scheme, realm };
  });
}

function readBody(
  raw: Buffer,
  headers: ReadonlyMap<string, string>,
  maxBody: number,
): { body: Buffer; truncated: boolean } {
  const chunked = /\bchunked\b/i.test(headers.get('transfer-encoding') ?? '');
  const plain = chunked ? dechunk(raw) : cutToLength(raw, headers.get('content-length'));
  const unpacked = unpack(plain.body, headers.get('content-encoding') ?? '', maxBody);
  const body = unpacked.body.subarray(0, maxBody);
  return { body, truncated: plain.truncated || unpacked.truncated || body.length < unpacked.body.length };
}

function cutToLength(raw: Buffer, declared: string | undefined): { body: Buffer; truncated: boolean } {
  const length = declared && /^\d{1,15}$/.test(declared) ? Number(declared) : raw.length;
  return { body: raw.subarray(0, length), truncated: raw.length < length };
}

/** Joins the chunks (RFC 9112, 7.1). An invalid, oversized or incomplete chunk ends the body early. */
export function dechunk(raw: Buffer): { body: Buffer; truncated: boolean } {
  const body = Buffer.allocUnsafe(raw.length);
  let length = 0;
  let position = 0;
  for (;;) {
    const newline = raw.subarray(position, position + chunkLineLimit).indexOf(0x0a);
    if (newline === -1) break;
    const size = chunkSize(raw.toString('latin1', position, position + Math.min(newline, 20)));
    if (size === null) break;
    position += newline + 1;
    if (size === 0) return { body: body.subarray(0, length), truncated: false };
    const available = Math.min(size, raw.length - position);
    raw.copy(body, length, position, position + available);
    length += available;
    position += available;
    if (available < size) break;
    if (raw[position] === 0x0d) position++;
    if (raw[position] === 0x0a) position++;
  }
  return { body: body.subarray(0, length), truncated: true };
}

/** Thirteen hexadecimal digits stay below 2^53; a longer size is invalid. */
function chunkSize(line: string): number | null {
  const digits = /^([0-9A-Fa-f]{1,16})[ \t]*(?:[;\r]|$)/.exec(line)?.[1];
  if (!digits) return null;
  const significant = digits.replace(/^0+/, '');
  return significant.length > 13 ? null : Number.parseInt(significant || '0', 16);
}

/** Decodes the content coding, returning at most `limit` bytes. A body with an unknown coding is returned as is. */
export function unpack(body: Buffer, coding: string, limit: number): { body: Buffer; truncated: boolean } {
  const name = coding.trim().toLowerCase();
  if (body.length === 0) return { body, truncated: false };
  if (name === 'gzip' || name === 'x-gzip') return inflateWith(gunzipSync, body, limit);
  if (name === 'deflate') {
    // Some servers send bare DEFLATE data instead of the zlib format (RFC 9110, 8.4.1.2).
    const wrapped = ((body[0] as number) & 0x0f) === 8 && body.length > 1 && body.readUInt16BE(0) % 31 === 0;
    return inflateWith(wrapped ? inflateSync : inflateRawSync, body, limit);
  }
  if (name === 'br') return inflateBrotli(body, limit);
  return { body, truncated: false };
}

function inflateWith(
  inflate: typeof gunzipSync,
  body: Buffer,
  limit: number,
): { body: Buffer; truncated: boolean } {
  const options = { maxOutputLength: limit, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    return { body: inflate(body, options), truncated: false };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return { body, truncated: true };
  }
  try {
    return { body: inflate(body.subarray(0, Math.floor(limit / deflateRatio)), options), truncated: true };
  } catch {
    return { body: Buffer.alloc(0), truncated: true };
  }
}

function inflateBrotli(body: Buffer, limit: number): { body: Buffer; truncated: boolean } {
  try {
    const options = { maxOutputLength: limit, finishFlush: constants.BROTLI_OPERATION_FLUSH };
    return { body: brotliDecompressSync(body, options), truncated: false };
  } catch {
    return { body: Buffer.alloc(0), truncated: true };
  }
}
