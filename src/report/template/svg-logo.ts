import { SaxesParser } from 'saxes';
import type { VectorLogo, VectorShape } from './report-template.ts';
import { identityMatrix, multiplyMatrices, readTransform, type SvgMatrix } from './svg-matrix.ts';
import { type SvgPaint, usualPaint, withPaint } from './svg-paint.ts';
import { shapeAttributes, shapePath } from './svg-primitives.ts';

/** Most shapes of a logo. */
const maxShapes = 500;
/** Most elements, shapes or not. */
const maxElements = 2000;
/** Deepest nesting of groups. */
const maxDepth = 32;
/** Most characters of all paths together. */
const maxPathLength = 256 * 1024;
/** Largest coordinate. */
const maxCoordinate = 1_000_000;

/** Attributes of any element that change nothing that is drawn here. */
const ignored =
  /^(?:id|role|version|baseProfile|focusable|preserveAspectRatio|xml:space|xml:lang|lang|aria-[a-z]{1,30}|data-[a-z-]{1,30}|xmlns:[a-z]{1,30}|stroke-linecap|stroke-linejoin|stroke-miterlimit|clip-rule|enable-background)$/;
const numberForm = /^[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?(?:px)?$/;
const svgNamespace = 'http://www.w3.org/2000/svg';

/** Why a file is no logo, and where. */
export class SvgProblem extends Error {
  /** From 1. */
  readonly line: number;

  constructor(line: number, reason: string) {
    super(reason);
    this.line = line;
  }
}

interface Attribute {
  value: string;
  line: number;
}

interface Level {
  element: string;
  matrix: SvgMatrix;
  paint: SvgPaint;
}

/**
 * Reads an SVG image into shapes. Whatever is not a known shape with known attributes is an error: nothing of the file
 * can load, link, run or move.
 * @throws SvgProblem
 */
export function readSvgLogo(text: string): VectorLogo {
  return new SvgReader().read(text);
}

class SvgReader {
  readonly #parser = new SaxesParser();
  readonly #levels: Level[] = [];
  readonly #shapes: VectorShape[] = [];
  #attributes = new Map<string, Attribute>();
  /** Where the element begins that is being read. */
  #line = 1;
  #elements = 0;
  #pathLength = 0;
  #box: Omit<VectorLogo, 'kind' | 'shapes'> | null = null;

  read(text: string): VectorLogo {
    const parser = this.#parser;
    parser.on('error', ({ message }) => this.#fail(parser.line, plainReason(message)));
    parser.on('doctype', () => this.#fail(parser.line, 'a DOCTYPE is not allowed'));
    parser.on('processinginstruction', () =>
      this.#fail(parser.line, 'a processing instruction is not allowed'),
    );
    parser.on('cdata', () => this.#fail(parser.line, 'CDATA is not allowed'));
    parser.on('text', (part) => this.#text(part));
    parser.on('opentagstart', () => {
      this.#line = parser.line;
      this.#attributes = new Map();
    });
    parser.on('attribute', ({ name, value }) => this.#attributes.set(name, { value, line: parser.line }));
    parser.on('opentag', ({ name }) => this.#open(name));
    parser.on('closetag', () => this.#levels.pop());
    parser.write(text).close();
    if (this.#box === null) throw new SvgProblem(1, 'has no svg element');
    if (this.#shapes.length === 0) throw new SvgProblem(1, 'shows nothing');
    return { kind: 'vector', ...this.#box, shapes: this.#shapes };
  }

  #fail(line: number, reason: string): never {
    throw new SvgProblem(line, reason);
  }

  #text(part: string): void {
    const element = this.#levels.at(-1)?.element;
    if (part.trim() !== '' && element !== 'title' && element !== 'desc')
      this.#fail(this.#parser.line, 'text is not allowed; convert it to paths');
  }

  #open(element: string): void {
    this.#elements += 1;
    if (this.#elements > maxElements) this.#fail(this.#line, `has more than ${maxElements} elements`);
    if (this.#levels.length >= maxDepth)
      this.#fail(this.#line, `is nested more than ${maxDepth} levels deep`);
    const outer = this.#levels.at(-1);
    this.#checkPlace(element, outer);
    const level: Level = { element, matrix: this.#matrix(outer), paint: this.#paint(element, outer) };
    if (element === 'svg') this.#box = this.#readBox();
    else if (Object.hasOwn(shapeAttributes, element)) this.#addShape(level);
    this.#levels.push(level);
  }

  #checkPlace(element: string, outer: Level | undefined): void {
    const isShape = Object.hasOwn(shapeAttributes, element);
    const isNote = element === 'title' || element === 'desc';
    if (element !== 'svg' && element !== 'g' && !isShape && !isNote)
      this.#fail(this.#line, `element ${shown(element)} is not allowed; only shapes are`);
    if ((element === 'svg') !== (outer === undefined))
      this.#fail(
        this.#line,
        outer === undefined ? 'the first element must be svg' : 'svg within svg is not allowed',
      );
    if (outer !== undefined && !isNote && outer.element !== 'svg' && outer.element !== 'g')
      this.#fail(this.#line, `element ${shown(element)} is not allowed within ${outer.element}`);
    this.#checkAttributes(element);
  }

  #checkAttributes(element: string): void {
    const own =
      element === 'svg'
        ? ['xmlns', 'viewBox', 'width', 'height', 'x', 'y']
        : (shapeAttributes[element] ?? []);
    const inherited = ['transform', 'fill', 'fill-rule', 'stroke', 'stroke-width', 'opacity'];
    for (const [name, { value, line }] of this.#attributes) {
      if (!own.includes(name) && !inherited.includes(name) && !ignored.test(name))
        this.#fail(line, `attribute ${shown(name)} of ${element} is not allowed`);
      if (name === 'xmlns' && value !== svgNamespace) this.#fail(line, 'xmlns must be that of SVG');
    }
  }

  #matrix(outer: Level | undefined): SvgMatrix {
    const base = outer?.matrix ?? identityMatrix;
    const transform = this.#attributes.get('transform');
    if (transform === undefined) return base;
    const matrix = readTransform(transform.value);
    return matrix === null
      ? this.#fail(transform.line, 'transform cannot be read')
      : multiplyMatrices(base, matrix);
  }

  #paint(element: string, outer: Level | undefined): SvgPaint {
    let paint = outer?.paint ?? usualPaint;
    for (const [name, { value, line }] of this.#attributes) {
      const next = withPaint(paint, name, value.trim());
      if (next === null) this.#fail(line, `${name} ${shown(value)} of ${element} is not allowed`);
      paint = next;
    }
    return paint;
  }

  #readBox(): Omit<VectorLogo, 'kind' | 'shapes'> {
    const { value, line } = this.#attributes.get('viewBox') ?? { value: null, line: this.#line };
    const given = value?.trim().split(/[\s,]{1,20}/) ?? [
      '0',
      '0',
      this.#given('width'),
      this.#given('height'),
    ];
    const [x = 0, y = 0, width = 0, height = 0] = given.map((part) =>
      numberForm.test(part) ? Number.parseFloat(part) : Number.NaN,
    );
    const isSound =
      given.length === 4 && [x, y, width, height].every((part) => Math.abs(part) <= maxCoordinate);
    if (!isSound || width <= 0 || height <= 0)
      this.#fail(line, 'needs a viewBox of four numbers, or width and height');
    return { x, y, width, height };
  }

  #given(name: string): string {
    return this.#attributes.get(name)?.value.trim() ?? '';
  }

  #addShape({ element, matrix, paint }: Level): void {
    const text = this.#attributes.get(element === 'path' ? 'd' : 'points');
    const path = shapePath(element, (name) => this.#length(name), text?.value ?? '');
    if (path === null) this.#fail(text?.line ?? this.#line, `${element} cannot be read`);
    const isShown =
      paint.opacity > 0 && (paint.fill !== null || (paint.stroke !== null && paint.strokeWidth > 0));
    if (path === '' || !isShown) return;
    this.#pathLength += path.length;
    if (this.#shapes.length >= maxShapes || this.#pathLength > maxPathLength)
      this.#fail(this.#line, `has more than ${maxShapes} shapes, or ${maxPathLength} characters of paths`);
    this.#shapes.push({ path, transform: isIdentity(matrix) ? null : matrix, ...paint });
  }

  #length(name: string): number {
    const attribute = this.#attributes.get(name);
    if (attribute === undefined) return 0;
    const number = numberForm.test(attribute.value.trim()) ? Number.parseFloat(attribute.value) : Number.NaN;
    return Math.abs(number) <= maxCoordinate
      ? number
      : this.#fail(attribute.line, `${name} must be a number`);
  }
}

function isIdentity(matrix: SvgMatrix): boolean {
  return matrix.every((part, at) => part === identityMatrix[at]);
}

/** Names and values of the file within errors. */
function shown(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}

/** Messages of the parser begin with its position. */
function plainReason(message: string): string {
  return `is not well-formed: ${message
    .replace(/^\d{1,9}:\d{1,9}: /, '')
    .replace(/\.$/, '')
    .slice(0, 200)}`;
}
