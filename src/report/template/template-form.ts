import { isAlias, isMap, isNode, isPair, isScalar, type Scalar, type YAMLMap } from 'yaml';
import { nearest } from '../../domain/text/nearest.ts';
import { visibleLines } from '../../domain/text/visible.ts';
import { SafeYaml } from '../../engine/graph/safe-yaml.ts';
import { contrastRatio, partsOfColor, readableContrast } from './contrast.ts';
import { type ReportTemplate, type TemplateBlock, templateBlocks } from './report-template.ts';
import type { TemplateProblem } from './template-problem.ts';

/** Largest template.yaml, bytes. */
export const maxTemplateBytes = 64 * 1024;
/** Longest title, characters. */
const maxTitleLength = 120;
/** Longest mark beside the title, characters: it stands on one line. */
const maxMarkLength = 40;
/** Longest text block, characters: about half a page. */
const maxBlockLength = 2000;

const logoName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const hexColor = /^#[0-9a-f]{6}$/i;
const white = [255, 255, 255];

const keys = ['title', 'mark', 'accent', 'logo', 'blocks'] as const;
type Key = (typeof keys)[number];

/** What template.yaml says; the logo is still a file name. */
export interface TemplateForm extends Pick<ReportTemplate, 'title' | 'mark' | 'accent' | 'blocks'> {
  logo: { file: string; line: number } | null;
}

/** Checks template.yaml; reports every problem with its line. */
export function readTemplateForm(
  text: string,
  file: string,
): { form: TemplateForm; problems: TemplateProblem[] } {
  return new FormReader(text, file).read();
}

class FormReader {
  readonly #text: string;
  readonly #file: string;
  readonly #problems: TemplateProblem[] = [];
  #yaml: SafeYaml | null = null;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  read(): { form: TemplateForm; problems: TemplateProblem[] } {
    const form: TemplateForm = { title: null, mark: null, accent: null, blocks: {}, logo: null };
    this.#readAll(form);
    return { form, problems: this.#problems };
  }

  #readAll(form: TemplateForm): void {
    const yaml = new SafeYaml(this.#text, maxTemplateBytes, `a map with ${keys.join(', ')}`);
    this.#yaml = yaml;
    for (const { line, message } of yaml.problems) this.#add(line, message);
    if (yaml.root === null) return;
    for (const [key, node] of this.#entries(yaml.root, keys, '')) {
      if (key === 'blocks') this.#readBlocks(node, form);
      else if (key === 'title') form.title = this.#oneLine(node, key, maxTitleLength);
      else if (key === 'mark') form.mark = this.#oneLine(node, key, maxMarkLength);
      else if (key === 'accent') form.accent = this.#color(node);
      else form.logo = this.#logo(node);
    }
  }

  #readBlocks(node: unknown, form: TemplateForm): void {
    if (!isMap(node)) return this.#issue(node, `blocks must be a map with ${templateBlocks.join(', ')}`);
    for (const [key, value] of this.#entries(node, templateBlocks, 'blocks.')) {
      const text = this.#plainText(value, `blocks.${key}`, maxBlockLength);
      if (text !== null) form.blocks[key] = text;
    }
  }

  /** The known keys with their values. */
  *#entries<K extends Key | TemplateBlock>(
    map: YAMLMap,
    known: readonly K[],
    path: string,
  ): Generator<[K, unknown]> {
    for (const { key, value } of map.items.filter(isPair)) {
      const name = isScalar(key) && typeof key.value === 'string' ? key.value : null;
      const found = known.find((one) => one === name);
      if (found === undefined) this.#issue(key, unknownKey(path, name, known));
      else if (isAlias(value)) this.#issue(value, `${path}${found}: write out the value instead of an alias`);
      else yield [found, isNode(value) && value.range ? value : key];
    }
  }

  /** A text of one line. */
  #oneLine(node: unknown, key: string, maxLength: number): string | null {
    const text = this.#plainText(node, key, maxLength);
    if (text === null || !text.includes('\n')) return text;
    this.#issue(node, `${key} must be one line`);
    return null;
  }

  #plainText(node: unknown, key: string, maxLength: number): string | null {
    const text = stringOf(node)?.trim() ?? null;
    if (text === null || text === '')
      this.#issue(node, `${key} must be text; quote it if it looks like a number`);
    else if (text.length > maxLength) this.#issue(node, `${key} is longer than ${maxLength} characters`);
    else if (visibleLines(text) !== text) this.#issue(node, `${key} has characters that cannot be seen`);
    else return text;
    return null;
  }

  #color(node: unknown): string | null {
    const text = stringOf(node);
    if (text === null || !hexColor.test(text)) {
      this.#issue(node, 'accent must be a color as "#rrggbb", in quotes');
      return null;
    }
    const contrast = contrastRatio(partsOfColor(text), white);
    if (contrast >= readableContrast) return text.toLowerCase();
    this.#issue(
      node,
      `accent ${text} is too light to read on white: its contrast is ${contrast.toFixed(1)}, it needs ${readableContrast}`,
    );
    return null;
  }

  #logo(node: unknown): TemplateForm['logo'] {
    const file = stringOf(node);
    if (file !== null && logoName.test(file) && /\.(?:png|svg)$/.test(file))
      return { file, line: this.#lineOf(node) };
    this.#issue(node, 'logo must be the name of a .png or .svg file in the folder of the template');
    return null;
  }

  #issue(node: unknown, reason: string): void {
    this.#add(this.#lineOf(node), reason);
  }

  #lineOf(node: unknown): number {
    return this.#yaml?.placeOf(node).line ?? 1;
  }

  #add(line: number, reason: string): void {
    this.#problems.push({ file: this.#file, line, reason });
  }
}

function stringOf(node: unknown): string | null {
  return isScalar(node) && typeof node.value === 'string' ? (node as Scalar<string>).value : null;
}

function unknownKey(path: string, name: string | null, known: readonly string[]): string {
  if (name === null) return `a key must be one of ${known.join(', ')}`;
  const shown = JSON.stringify(`${path}${name.slice(0, 64)}`);
  const similar = nearest(name, known);
  return similar === null
    ? `unknown key ${shown}; known are ${known.join(', ')}`
    : `unknown key ${shown}; did you mean "${path}${similar}"?`;
}
