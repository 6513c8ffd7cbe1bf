import { isUtf8 } from 'node:buffer';

/** Bytes at the start of a banner that are looked at. */
const readBytes = 4096;
/** Lines of the readable part. */
const maxLines = 10;
/** Characters of the readable part. */
const maxCharacters = 512;
/** Minimum length of readable text behind binary data, characters: shorter runs come about by chance. */
const minTextInside = 4;
/** The same before single control characters: ids and lengths of messages have one or two. */
const minTextBefore = 3;

/** DNS repeats the id of the request, `PO`, and its question, over TCP after a length (RFC 1035, section 4.1). */
const repeatedQuestion = /^(?:[^]{2})?PO[\x80-\xff][^]{9}[^\0]{0,255}\0[^]{4}/;
/** Words of requests that responses repeat: the community of SNMP, names of the client. */
const repeatedWord = /^\W*(?:public|portolan(?:\.invalid)?)\W*$/i;

/** A response as recorded: text with `\xNN`, and its exact bytes in base64 if they differ. */
export interface RecordedBanner {
  banner?: string | null | undefined;
  banner_b64?: string | null | undefined;
}

/**
 * The part of a banner that people can read: of HTTP the status line and the server, of markup the first line, of
 * binary protocols the first text, else the text up to the first binary data. At most 10 lines and 512 characters;
 * empty if there is no text. Single control characters stay as they are: callers escape them.
 */
export function readableBanner(recorded: RecordedBanner): string {
  const text = firstText(decoded(recorded)).trimEnd();
  const lines = text.split(/\r\n|\r|\n/);
  if (isHttpLike(text)) return capped(headLines(lines));
  return capped(text.startsWith('<') ? lines.slice(0, 1) : lines);
}

/** The first readable line of a banner that is not blank; of HTTP with status 200 the server, if it names itself. */
export function readableLine(recorded: RecordedBanner): string {
  const [first = '', second] = readableBanner(recorded)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return second !== undefined && isHttpLike(first) && / 200\b/.test(first) ? second : first;
}

/** HTTP, RTSP, SIP: a status line, then headers. */
function isHttpLike(text: string): boolean {
  return /^[A-Z]{3,8}\/\d(?:\.\d)? \d{3}\b/.test(text);
}

function headLines(lines: readonly string[]): string[] {
  const end = lines.indexOf('');
  const head = end < 0 ? lines : lines.slice(0, end);
  return [
    head[0] ?? '',
    ...head
      .slice(1)
      .filter((line) => /^server:/i.test(line))
      .slice(0, 1),
  ];
}

function capped(lines: readonly string[]): string {
  const text = lines.slice(0, maxLines).join('\n');
  const isCut = lines.length > maxLines || text.length > maxCharacters;
  return isCut ? `${text.slice(0, maxCharacters).trimEnd().toWellFormed()}…` : text;
}

/** Text of the exact bytes; bytes that are not UTF-8 stand in it as characters up to U+00FF. */
function decoded({ banner, banner_b64 }: RecordedBanner): { text: string; isBinary: boolean } {
  if (!banner_b64) return { text: (banner ?? '').slice(0, readBytes), isBinary: false };
  const bytes = Buffer.from(banner_b64.slice(0, (readBytes / 3) * 4), 'base64');
  const whole = wholeCharacters(bytes);
  return isUtf8(whole)
    ? { text: whole.toString(), isBinary: false }
    : { text: bytes.toString('latin1'), isBinary: true };
}

/** Without a character that the limit cut, at most three bytes. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let cut = 0; cut < 4 && cut < bytes.length; cut++) {
    const shorter = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(shorter)) return shorter;
  }
  return bytes;
}

/** NUL, and two unreadable characters in a row, end a text. */
const textBreak = /\0|[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]{2,}/;
const binaryBreak = /\0|[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\xff]{2,}/;

function firstText({ text, isBinary }: { text: string; isBinary: boolean }): string {
  const said = isBinary ? text.replace(repeatedQuestion, '\0') : text;
  const [first = '', ...later] = said.split(isBinary ? binaryBreak : textBreak);
  const isText =
    later.length === 0 ||
    (first.length >= (isBinary ? minTextInside : minTextBefore) &&
      /[\p{L}\p{N}].*[\p{L}\p{N}]/su.test(first));
  const found = isText
    ? first
    : (later.find((part) => isReadable(part) && !repeatedWord.test(part))?.trim() ?? '');
  return isBinary ? escapedBytes(found) : found;
}

/** Mostly letters, digits and blanks. */
function isReadable(text: string): boolean {
  const { length } = text.trim();
  const words = text.trim().match(/[\p{L}\p{N} .,:/_-]/gu)?.length ?? 0;
  return length >= minTextInside && words >= 0.6 * length;
}

function escapedBytes(text: string): string {
  return text.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
}
