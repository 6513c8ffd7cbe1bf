/**
 * What a response repeats of its request is no evidence of anything: an echo service, an error page with the requested
 * path, a page that shows the browser its own headers. It may be in another case, reversed, escaped or encoded.
 */

/** Bytes of a response that are searched. */
const searchedBytes = 256 * 1024;
/** Occurrences of one text that are looked at. */
const maxOccurrences = 64;
/** Places of escaped characters that are read, two for each. */
const maxSteps = 10_000;
/** Share of a request of text from which a repetition counts as the whole; other formats repeat much by themselves. */
const nearlyAll = 0.9;
/** Minimum length of a repeated text, characters: shorter ones come about by chance. */
const minRepeated = 8;
/** The same of a whole request of text: commands are keywords of responses, too (`STARTTLS`). */
const minText = 16;
/** Minimum length of a path that an error page repeats, characters. */
const minPath = 4;

/** A request of text. */
const isText = /^[\x20-\x7e\r\n]*$/;
/** Words of requests that no server says by itself: `Portolan/0.1`, `portolan-no-such-page`. */
const ownWord = /portolan[/-][\w.-]{1,64}/gi;
/** First line of an HTTP, SIP, RTSP or ICAP request. */
const requestLine = /^[A-Z]{3,16} (\S{1,512}) [A-Z]{3,8}\/\d\.\d(?=\r?\n|$)/;
/** Status line of an error. */
const errorLine = /^[A-Z]{3,8}\/\d(?:\.\d)? [45]\d\d\b/;
/** Openings that client and server send alike: what follows them shows whether the server repeats it. */
const sentByBoth = /^(?:JDWP-Handshake|@RSYNCD: |RFB \d{3}\.\d{3}\n|BZFS|\0\0\0\x0dO)/;

/** Escapes of HTML, URLs, JSON and programming languages. */
const escapes =
  /%[0-9a-f]{2}|&(?:#\d{1,5}|#x[0-9a-f]{1,4}|amp|lt|gt|quot|apos|sol|nbsp);|\\(?:x[0-9a-f]{2}|u00[0-9a-f]{2}|[rnt\\/"'])/g;
/** The zero bytes of UTF-16, in texts that begin with it. */
const wide = /^\0?(?:[\x09-\x7e]\0){4}/;
const namedEscapes: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&sol;': '/',
  '&nbsp;': ' ',
  '\\r': '\r',
  '\\n': '\n',
  '\\t': '\t',
  '\0': '',
};

type Encoding = (text: string) => string;

/** Encodings of a text, in lower case, in which every part of it is a part of the whole. */
const encodings: readonly Encoding[] = [
  (text) => text.toLowerCase(),
  (text) => [...text.toLowerCase()].reverse().join(''),
  (text) => Buffer.from(text, 'latin1').toString('hex'),
  (text) =>
    Buffer.from(text, 'latin1')
      .toString('hex')
      .replace(/..(?=.)/g, '$& '),
];

interface Span {
  from: number;
  /** Exclusive. */
  to: number;
}

/** A response as it is searched: lower case, one character per byte. */
interface View {
  text: string;
  /** Bytes of the response that a part of the text stands for. */
  locate(span: Span): Span;
}

/**
 * The response with blanks in place of what it repeats of the requests, line ends excepted; of the same length.
 * @returns the same object if it repeats nothing
 */
export function withoutRepeats(response: Buffer, requests: readonly Buffer[]): Buffer {
  if (response.length === 0 || requests.length === 0) return response;
  const spans = spansOf(response, requests);
  if (spans.length === 0) return response;
  const rest = Buffer.from(response);
  for (const { from, to } of spans)
    for (let position = from; position < to; position++)
      if (rest[position] !== 0x0a && rest[position] !== 0x0d) rest[position] = 0x20;
  return rest;
}

/** Whether nothing but blanks is left. */
export function isBlank(bytes: Buffer): boolean {
  return /^\s*$/.test(bytes.toString('latin1', 0, searchedBytes));
}

function spansOf(response: Buffer, requests: readonly Buffer[]): Span[] {
  const raw = response.toString('latin1', 0, searchedBytes);
  const plain: View = { text: raw.toLowerCase(), locate: (span) => span };
  const unescaped = unescape(plain.text);
  const views = unescaped === null ? [plain] : [plain, unescaped];
  const isError = errorLine.test(raw);
  const texts = requests.map((bytes) => bytes.toString('latin1'));
  if (texts.length > 1 && isEqual(plain.text, texts.join(''))) return [{ from: 0, to: response.length }];
  return texts.flatMap((request) => {
    if (sentByBoth.test(request)) return [];
    if (isEqual(plain.text, request)) return [{ from: 0, to: response.length }];
    const parts = partsOf(request, isError);
    return views.flatMap((view) => [
      ...encodings.flatMap((encode) => repeatsIn(view, request, parts, encode)),
      ...base64Repeats(view, request),
    ]);
  });
}

/** Part of a request whose repetition counts. */
interface Part {
  text: string;
  /** Characters at its start that stay. */
  kept: number;
  /** What surrounds it in the request is repeated with it. */
  grows: boolean;
  /** It counts only if nearly all of the request is repeated with it. */
  needsAll: boolean;
}

/** @param isError the response is an error page, which may name the path without serving it */
function partsOf(request: string, isError: boolean): Part[] {
  const parts: Part[] = [];
  const middle = Math.floor(request.length / 2) - minRepeated / 2;
  if (isLong(request))
    parts.push({ text: request.slice(middle, middle + minRepeated), kept: 0, grows: true, needsAll: true });
  const [line, path = ''] = requestLine.exec(request) ?? [];
  if (line !== undefined) parts.push({ text: line, kept: 0, grows: true, needsAll: false });
  // Servers word their errors around the path: `Cannot GET /path`.
  if (isError && path.length >= minPath) parts.push({ text: path, kept: 1, grows: false, needsAll: false });
  for (const text of ownWords(request)) parts.push({ text, kept: 0, grows: false, needsAll: false });
  return parts;
}

/** The name of the host is that of the target, whatever it is called. */
function ownWords(request: string): string[] {
  return request.replace(/\r\nHost: [^\r\n]{0,300}/, '').match(ownWord) ?? [];
}

/** Whether a request is long enough to be sought within a response. */
function isLong(request: string): boolean {
  const { length } = request.trim();
  return length >= (isText.test(request) ? minText : minRepeated);
}

function repeatsIn(view: View, request: string, parts: readonly Part[], encode: Encoding): Span[] {
  return parts.flatMap(({ text, kept, grows, needsAll }) => {
    const sought = encode(text);
    if (!view.text.includes(sought)) return [];
    const whole = encode(request);
    const share = isText.test(request) ? nearlyAll : 1;
    const needed = needsAll ? share * whole.trimEnd().length : 0;
    const offset = whole.indexOf(sought);
    const spans: Span[] = [];
    for (const at of occurrences(view.text, sought)) {
      const last = spans.at(-1);
      if (last !== undefined && at < last.to) continue;
      const own = { from: at + kept, to: at + sought.length };
      const span = grows ? grown(view.text, at, whole, offset, sought.length) : own;
      if (span.to - span.from >= needed) spans.push(span);
    }
    return spans.map((span) => view.locate(span));
  });
}

function* occurrences(text: string, sought: string): Generator<number> {
  let at = text.indexOf(sought);
  for (let count = 0; count < maxOccurrences && at !== -1; count++) {
    yield at;
    at = text.indexOf(sought, at + sought.length);
  }
}

/** The equal surroundings of an occurrence. */
function grown(text: string, at: number, whole: string, offset: number, length: number): Span {
  let before = 0;
  while (before < Math.min(at, offset) && text[at - before - 1] === whole[offset - before - 1]) before++;
  let after = length;
  while (
    offset + after < whole.length &&
    at + after < text.length &&
    text[at + after] === whole[offset + after]
  )
    after++;
  return { from: at - before, to: at + after };
}

/** Base64 of the request or of an own word, alone or within other encoded text. */
function base64Repeats(view: View, request: string): Span[] {
  const whole = isLong(request) ? [request] : [];
  return [...whole, ...ownWords(request)].flatMap((text) =>
    [0, 1, 2].flatMap((skipped) => {
      const bytes = Buffer.from(text, 'latin1').subarray(skipped);
      const encoded = bytes
        .subarray(0, bytes.length - (bytes.length % 3))
        .toString('base64')
        .toLowerCase();
      const spans = encoded.length < minRepeated ? [] : [...occurrences(view.text, encoded)];
      return spans.map((from) => {
        // The first and last characters depend on what stands beside it.
        const rest = /^[a-z0-9+/=]{0,4}/.exec(view.text.slice(from + encoded.length))?.[0].length ?? 0;
        const lead =
          skipped === 0
            ? 0
            : (/[a-z0-9+/]{0,4}$/.exec(view.text.slice(Math.max(0, from - 4), from))?.[0].length ?? 0);
        return view.locate({ from: from - lead, to: from + encoded.length + rest });
      });
    }),
  );
}

/** The whole response is the request in some form, apart from white space at its ends, or at least half of it as it is. */
function isEqual(text: string, request: string): boolean {
  const half = Math.max(2, request.length / 2);
  if (text.trim() !== '' && text.length >= half && request.toLowerCase().startsWith(text)) return true;
  const response = text.length > 4 * request.length ? '' : text.trim();
  return response !== '' && [request, request.trim()].some((own) => isFormOf(response, own));
}

function isFormOf(response: string, request: string): boolean {
  const { length } = request;
  // Each form has a length of its own.
  const lengths = [length, 2 * length, 3 * length - 1, 4 * Math.ceil(length / 3)];
  if (!lengths.includes(response.length)) return false;
  const base64 = Buffer.from(request, 'latin1').toString('base64').toLowerCase();
  return response === base64 || encodings.some((encode) => response === encode(request));
}

/** Null if nothing is escaped. */
function unescape(text: string): View | null {
  let plain = '';
  let end = 0;
  /** Where escaped characters stand: in the plain text, and behind them in the response. */
  const steps: { at: number; source: number }[] = [{ at: 0, source: 0 }];
  for (const { 0: escape, index } of text.matchAll(wide.test(text) ? /\0/g : escapes)) {
    if (steps.length > maxSteps) break;
    plain += text.slice(end, index);
    steps.push({ at: plain.length, source: index });
    plain += unescaped(escape);
    end = index + escape.length;
    steps.push({ at: plain.length, source: end });
  }
  if (end === 0) return null;
  plain += text.slice(end);
  const sourceOf = (position: number): number => {
    let low = 0;
    let high = steps.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((steps[middle]?.at ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    const { at, source } = steps[low] ?? { at: 0, source: 0 };
    return source + position - at;
  };
  return { text: plain, locate: ({ from, to }) => ({ from: sourceOf(from), to: sourceOf(to) }) };
}

function unescaped(escape: string): string {
  const named = namedEscapes[escape];
  if (named !== undefined) return named;
  const [, decimal, hex] = /^(?:&#(\d+);|[%\\&#xu]*([0-9a-f]+);?)$/.exec(escape) ?? [];
  if (decimal === undefined && hex === undefined) return escape.slice(1);
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return String.fromCharCode(code & 0xff).toLowerCase();
}
