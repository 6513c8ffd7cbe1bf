/** Largest document, bytes. */
const maxDocumentBytes = 16 * 1024 * 1024;

/** Levels of elements. */
const maxDepth = 16;

/** Elements of one document. */
const maxElements = 500_000;

/** Attributes of one element. */
const maxAttributes = 64;

export interface XmlElement {
  name: string;
  attributes: Map<string, string>;
  children: XmlElement[];
  /** The text directly in it, entities resolved. */
  text: string;
  /** Line on which it begins, from 1. */
  line: number;
}

/** Where a document is not well-formed, or holds something that is refused. */
export class XmlProblem extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/**
 * Reads a document strictly: elements, attributes, text, comments, CDATA, the five entities of XML and numbered
 * characters. A document type, other entities and processing instructions are refused, so that nothing grows and
 * nothing is fetched. Namespaces mean nothing. Time is linear in the length.
 *
 * @returns its root element
 * @throws XmlProblem
 */
export function readXml(text: string): XmlElement {
  return new XmlReader(text).document();
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

class XmlReader {
  readonly #text: string;
  readonly #open: XmlElement[] = [];
  #root: XmlElement | null = null;
  #at = 0;
  #elements = 0;
  #line = 1;
  /** Up to where line ends are counted. */
  #counted = 0;

  constructor(text: string) {
    this.#text = text.startsWith('\uFEFF') ? text.slice(1) : text;
  }

  document(): XmlElement {
    if (this.#text.length > maxDocumentBytes)
      throw new XmlProblem(`is larger than ${maxDocumentBytes} bytes`, 1);
    const declaration = /^<\?xml\s[^<>?]{0,200}\?>/.exec(this.#text);
    this.#at = declaration?.[0].length ?? 0;
    while (this.#at < this.#text.length) {
      if (this.#text[this.#at] === '<') this.#markup();
      else this.#characters();
    }
    const unclosed = this.#open.at(-1);
    if (unclosed) throw this.#problem(`<${unclosed.name}> of line ${unclosed.line} is not closed`);
    if (!this.#root) throw this.#problem('contains no element');
    return this.#root;
  }

  #markup(): void {
    if (this.#starts('<!--')) {
      const comment = this.#upTo('-->', 4, 'a comment');
      if (comment.includes('--')) throw this.#problem('"--" within a comment');
    } else if (this.#starts('<![CDATA[')) this.#addText(this.#upTo(']]>', 9, 'CDATA'));
    else if (this.#starts('<!')) throw this.#problem('document types are not supported');
    else if (this.#starts('<?')) throw this.#problem('processing instructions are not supported');
    else if (this.#starts('</')) this.#endTag();
    else this.#startTag();
  }

  #characters(): void {
    const next = this.#text.indexOf('<', this.#at);
    const end = next < 0 ? this.#text.length : next;
    this.#addText(this.#resolve(this.#text.slice(this.#at, end)));
    this.#at = end;
  }

  #addText(text: string): void {
    const element = this.#open.at(-1);
    if (element) element.text += text;
    else if (text.trim() !== '') throw this.#problem('text outside of the root element');
  }

  #startTag(): void {
    const line = this.#currentLine();
    this.#at++;
    const element: XmlElement = { name: this.#name(), attributes: new Map(), children: [], text: '', line };
    for (;;) {
      const gap = this.#skipSpace();
      if (this.#starts('>')) {
        this.#at++;
        this.#place(element);
        this.#open.push(element);
        return;
      }
      if (this.#starts('/>')) {
        this.#at += 2;
        return this.#place(element);
      }
      if (!gap) throw this.#problem(`<${element.name}> is not well-formed`);
      this.#attribute(element);
    }
  }

  #attribute({ name: owner, attributes }: XmlElement): void {
    const name = this.#name();
    this.#skipSpace();
    if (!this.#starts('=')) throw this.#problem(`attribute ${name} of <${owner}> has no value`);
    this.#at++;
    this.#skipSpace();
    const quote = this.#text[this.#at];
    if (quote !== '"' && quote !== "'") throw this.#problem(`the value of ${name} is not quoted`);
    const value = this.#upTo(quote, 1, `the value of ${name}`);
    if (value.includes('<')) throw this.#problem(`"<" in the value of ${name}`);
    if (attributes.has(name)) throw this.#problem(`duplicate attribute ${name} of <${owner}>`);
    if (attributes.size >= maxAttributes)
      throw this.#problem(`<${owner}> has more than ${maxAttributes} attributes`);
    attributes.set(name, this.#resolve(value.replace(/\r\n|[\r\n\t]/g, ' ')));
  }

  #place(element: XmlElement): void {
    if (++this.#elements > maxElements) throw this.#problem(`more than ${maxElements} elements`);
    if (this.#open.length >= maxDepth) throw this.#problem(`elements are nested more than ${maxDepth} deep`);
    const parent = this.#open.at(-1);
    if (parent) parent.children.push(element);
    else if (this.#root) throw this.#problem('a second root element');
    else this.#root = element;
  }

  #endTag(): void {
    this.#at += 2;
    const name = this.#name();
    this.#skipSpace();
    if (!this.#starts('>')) throw this.#problem(`</${name}> is not well-formed`);
    this.#at++;
    const element = this.#open.pop();
    if (element?.name !== name) {
      throw this.#problem(`</${name}>, expected ${element ? `</${element.name}>` : 'no end tag'}`);
    }
  }

  #name(): string {
    const name = /^[A-Za-z_][A-Za-z0-9_.:-]{0,99}/.exec(this.#text.slice(this.#at, this.#at + 101))?.[0];
    if (name === undefined) throw this.#problem('expected a name');
    this.#at += name.length;
    return name;
  }

  #skipSpace(): boolean {
    const from = this.#at;
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x')) this.#at++;
    return this.#at > from;
  }

  #upTo(end: string, opening: number, what: string): string {
    const from = this.#at + opening;
    const found = this.#text.indexOf(end, from);
    if (found < 0) throw this.#problem(`${what} does not end`);
    this.#at = found + end.length;
    return this.#text.slice(from, found);
  }

  #resolve(text: string): string {
    if (!text.includes('&')) return text;
    return text.replace(/&([^;&]{0,12};?)/g, (_, name: string) => this.#entity(name));
  }

  #entity(written: string): string {
    if (written.endsWith(';')) {
      const name = written.slice(0, -1);
      const known = Object.hasOwn(entities, name) ? entities[name] : undefined;
      if (known !== undefined) return known;
      const [, hexadecimal, decimal] = /^#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}))$/.exec(name) ?? [];
      const code = hexadecimal ? Number.parseInt(hexadecimal, 16) : Number(decimal ?? Number.NaN);
      if (code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff))
        return String.fromCodePoint(code);
    }
    throw this.#problem(`unknown entity &${written}`);
  }

  #starts(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  #currentLine(): number {
    for (; this.#counted < this.#at; this.#counted++) {
      if (this.#text.charCodeAt(this.#counted) === 10) this.#line++;
    }
    return this.#line;
  }

  #problem(message: string): XmlProblem {
    return new XmlProblem(message, this.#currentLine());
  }
}
