import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** What a page says of itself in its markup. */
export interface PageFacts {
  title: string | null;
  generator: string | null;
}

/** Size of the body prefix that is read, bytes. */
export const markupLimit = 256 * 1024;
/** Maximum length of title and generator, characters. */
const titleLimit = 512;
/** Characters collected of a title or an attribute, before whitespace is collapsed. */
const collectedLimit = 8 * titleLimit;
/** `meta` elements that are read. */
const metaLimit = 200;

/** For pages that declare no encoding. */
const usualEncodings = ['utf-8', 'windows-1252'];

/**
 * Title and generator of a page in its encoding: that of the byte order mark, else the first of header, XML declaration
 * and `meta` in which they can be read.
 * @param contentType header of the response
 */
export function readPageFacts(body: Buffer, contentType: string): PageFacts {
  const bytes = body.subarray(0, markupLimit);
  const xml = /^[^;,]{0,80}[/+]xml\s{0,8}(?:[;,]|$)/i.test(contentType);
  const marked = byteOrderMark(bytes);
  if (marked !== null) return factsOf(readMarkup(decoded(bytes, marked), xml));
  const plain = readMarkup(bytes.toString('latin1'), xml);
  const encodings = encodingsFor([charsetIn(contentType), xmlEncoding(bytes), ...plain.charsets]);
  if (isAscii(plain) && !encodings.some((name) => name.startsWith('utf-16'))) return factsOf(plain);
  const readings = encodings.map((encoding) => () => factsOf(readMarkup(decoded(bytes, encoding), xml)));
  for (const read of readings) {
    const facts = read();
    if (!Object.values(facts).some((text) => text?.includes('\ufffd'))) return facts;
  }
  return (readings[0] as () => PageFacts)();
}

/** The encodings to try, in order; unknown names are left out. */
function encodingsFor(labels: readonly (string | null)[]): string[] {
  const declared = labels.map((label) => (label === null ? null : encodingNamed(label)));
  const known = [...new Set(declared.filter((name) => name !== null))];
  if (known.length === 0) return usualEncodings;
  // Servers declare Latin 1 for pages of any kind; bytes that are valid UTF-8 are nothing else.
  const utf8First = known[0] === 'windows-1252' || known.includes('utf-8');
  return utf8First ? [...new Set(['utf-8', ...known])] : known;
}

/** Name of the encoding of a label (WHATWG Encoding); null for an unknown one. */
function encodingNamed(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

function decoded(bytes: Buffer, encoding: string): string {
  return new TextDecoder(encoding).decode(bytes);
}

function byteOrderMark(bytes: Buffer): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : null;
}

/** The `charset` parameter of a media type. */
function charsetIn(mediaType: string): string | null {
  return /\bcharset\s{0,8}=\s{0,8}["']?([^\s"';,>]{1,40})/i.exec(mediaType)?.[1] ?? null;
}

/** The encoding of an XML declaration, also before HTML (HTML, 13.2.3.2). */
function xmlEncoding(bytes: Buffer): string | null {
  const start = bytes.toString('latin1', 0, 512);
  return /^\s{0,64}<\?xml\s[^>]{0,200}?\bencoding\s{0,8}=\s{0,8}["']([\w.:-]{1,40})/.exec(start)?.[1] ?? null;
}

/** Whether the texts read the same in every encoding; the escapes of ISO-2022-JP are no text. */
function isAscii({ title, generator }: MarkupReader): boolean {
  return !/[^\t\n\f\r -~]/.test(`${title ?? ''}${generator ?? ''}`);
}

function factsOf({ title, generator }: MarkupReader): PageFacts {
  return { title: textOf(title), generator: textOf(generator) };
}

/** Whitespace collapsed, at most `titleLimit` characters; null for an empty text. */
function textOf(text: string | null): string | null {
  const line = (text ?? '').replace(/\s+/g, ' ').trim().slice(0, titleLimit).toWellFormed();
  return line === '' ? null : line;
}

function readMarkup(markup: string, xml: boolean): MarkupReader {
  const reader = new MarkupReader(markup, xml);
  reader.run();
  return reader;
}

/** Elements whose titles are not that of the page: drawings, formulas, templates, and what only other browsers show. */
const otherContent: ReadonlySet<string> = new Set(['svg', 'math', 'template', 'noscript']);

const foreignContent: ReadonlySet<string> = new Set(['svg', 'math']);

const readAttributes: ReadonlySet<string> = new Set(['name', 'content', 'charset', 'http-equiv']);

/**
 * Reads the first title of a page, its generator and the encodings that it declares. The tokenizer knows comments and
 * the elements with raw text; each character costs the same, whatever the page holds.
 */
class MarkupReader implements TokenizerCallbacks {
  title: string | null = null;
  generator: string | null = null;
  readonly charsets: string[] = [];
  readonly #markup: string;
  readonly #tokenizer: Tokenizer;
  readonly #xml: boolean;
  /** Name of the current tag. */
  #tag = '';
  #inTitle = false;
  #titleRead = false;
  /** Open elements of `otherContent`. */
  #depth = 0;
  /** Those of them that are drawings or formulas. */
  #foreign = 0;
  #metas = 0;
  /** Of the current `meta`. */
  #attributes = new Map<string, string>();
  #attribute = '';
  #value = '';

  constructor(markup: string, xml: boolean) {
    this.#markup = markup;
    this.#xml = xml;
    this.#tokenizer = new Tokenizer({ xmlMode: xml, decodeEntities: true }, this);
  }

  run(): void {
    this.#tokenizer.write(this.#markup);
    this.#tokenizer.end();
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#name(start, end);
    this.#attributes = new Map();
  }

  onopentagend(): void {
    if (otherContent.has(this.#tag)) this.#depth += 1;
    if (foreignContent.has(this.#tag)) this.#foreign += 1;
    if (this.#tag === 'meta') this.#addMeta();
    if (this.#tag === 'body') this.#endHead();
    if (this.#tag !== 'title' || this.#titleRead || this.#depth > 0) return;
    this.#inTitle = true;
    this.title = '';
  }

  onselfclosingtag(): void {
    // Elsewhere the slash means nothing (HTML, 13.1.2.1).
    if (this.#xml || this.#foreign > 0 || foreignContent.has(this.#tag)) {
      if (this.#tag === 'meta') this.#addMeta();
      if (this.#tag === 'title' && this.#depth === 0) this.#titleRead = true;
      return;
    }
    this.onopentagend();
  }

  onclosetag(start: number, end: number): void {
    const name = this.#name(start, end);
    if (otherContent.has(name) && this.#depth > 0) this.#depth -= 1;
    if (foreignContent.has(name) && this.#foreign > 0) this.#foreign -= 1;
    if (name === 'head') this.#endHead();
    if (name !== 'title' || !this.#inTitle) return;
    this.#inTitle = false;
    this.#titleRead = true;
  }

  ontext(start: number, end: number): void {
    if (this.#inTitle) this.#addText(this.#slice(start, end));
  }

  ontextentity(codepoint: number): void {
    if (this.#inTitle) this.#addText(String.fromCodePoint(codepoint));
  }

  oncdata(start: number, end: number, mark: number): void {
    if (this.#inTitle) this.#addText(this.#slice(start, end - mark));
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#tag === 'meta' ? this.#name(start, end) : '';
    this.#value = '';
  }

  onattribdata(start: number, end: number): void {
    if (this.#attribute !== '') this.#addValue(this.#slice(start, end));
  }

  onattribentity(codepoint: number): void {
    if (this.#attribute !== '') this.#addValue(String.fromCodePoint(codepoint));
  }

  onattribend(): void {
    const name = this.#attribute;
    if (readAttributes.has(name) && !this.#attributes.has(name)) this.#attributes.set(name, this.#value);
  }

  /** There, no element has raw text. */
  isInForeignContext(): boolean {
    return this.#foreign > 0;
  }

  oncomment(): void {}
  onprocessinginstruction(): void {}
  ondeclaration(): void {}
  onend(): void {}

  /** Nothing more to read, but for a title that some pages have in their body. */
  #endHead(): void {
    if (this.#titleRead && this.#depth === 0) this.#tokenizer.pause();
  }

  #addMeta(): void {
    this.#metas += 1;
    if (this.#metas > metaLimit || this.#depth > 0) return;
    const content = this.#attributes.get('content') ?? '';
    if (this.#attributes.get('name')?.trim().toLowerCase() === 'generator') this.generator ??= content;
    const charset =
      this.#attributes.get('charset') ??
      (/^\s{0,8}content-type\s{0,8}$/i.test(this.#attributes.get('http-equiv') ?? '')
        ? charsetIn(content)
        : null);
    if (charset) this.#addCharset(charset);
  }

  /** Whoever can read a declaration in ASCII does not read UTF-16 (HTML, 13.2.3.2). */
  #addCharset(label: string): void {
    if (this.charsets.length < metaLimit) this.charsets.push(/^\s*utf-?16/i.test(label) ? 'utf-8' : label);
  }

  #addText(text: string): void {
    if ((this.title as string).length < collectedLimit) this.title += text;
  }

  #addValue(text: string): void {
    if (this.#value.length < collectedLimit) this.#value += text;
  }

  #slice(start: number, end: number): string {
    return this.#markup.slice(start, Math.min(end, start + collectedLimit));
  }

  /** A name without its namespace. */
  #name(start: number, end: number): string {
    const name = this.#markup.slice(start, Math.min(end, start + 40)).toLowerCase();
    return this.#xml ? name.slice(name.indexOf(':') + 1) : name;
  }
}
