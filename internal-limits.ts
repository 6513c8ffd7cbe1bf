/** Reads the caps that are built into src/ from its text: name, value and comment of each. Part of `npm run docs`. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';

export interface InternalLimit {
  /** Below src/. */
  file: string;
  name: string;
  /** NaN when the text is not arithmetic of numbers and of constants of the same file. */
  value: number;
  /** Empty when no comment stands directly above. */
  comment: string;
}

const root = join(import.meta.dirname, 'src');
const cap =
  /^(?:export )?const ((?:max|most|largest|longest|highest)[A-Z]\w*|\w+Limit)(?:: number)? = ([^;]*);/gm;
const docComment = /\/\*\*((?:(?!\*\/)[^])*)\*\/\n$/;
const lineComments = /(?:^\/\/.*\n)+$/m;

/** Every constant of src/ that is named as a cap, by file and name. */
export function internalLimits(): InternalLimit[] {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  return files.toSorted().flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return limitsIn(source).map((limit) => ({ file, ...limit }));
  });
}

export function limitsIn(source: string): Omit<InternalLimit, 'file'>[] {
  return [...source.matchAll(cap)].flatMap(({ 1: name = '', 2: text = '', index }) => {
    const value = constantIn(source, name);
    // Functions, lists and the like are no caps; a text that begins as a number is one, even if it cannot be read.
    if (Number.isNaN(value) && (text.includes('=>') || !/^[\d(]/.test(text))) return [];
    return [{ name, value, comment: commentAbove(source.slice(0, index)) }];
  });
}

/** The value of a constant or property of a file below src/. @throws Error if it is not a number */
export function limitOf(file: string, name: string): number {
  const value = constantIn(readFileSync(join(root, file), 'utf8'), name);
  if (Number.isNaN(value)) throw new Error(`src/${file} has no number ${name}`);
  return value;
}

/** Arithmetic of numbers and of constants of the same file. */
function constantIn(source: string, name: string): number {
  const text = new RegExp(`\\b${name}(?:(?:: number)? =|:) ([^;,\\n]+)`).exec(source)?.[1] ?? '';
  const numbers = text.replace(/\b[A-Z]\w*/gi, (word) =>
    word === name ? 'NaN' : String(constantIn(source, word)),
  );
  return /^[\d\s_.*+()-]+$/.test(numbers) ? Number(runInNewContext(numbers)) : Number.NaN;
}

function commentAbove(before: string): string {
  const text = docComment.exec(before)?.[1] ?? lineComments.exec(before)?.[0] ?? '';
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\*|\/\/)?\s*/, ''))
    .join(' ')
    .trim();
}

/** `2 MiB`, `30 s`, `10,000`: the unit follows from the name. */
export function amountText(name: string, value: number): string {
  if (/Bytes/.test(name))
    return unitText(value, [1, 2 ** 10, 2 ** 20, 2 ** 30], ['bytes', 'KiB', 'MiB', 'GiB']);
  if (name.endsWith('Ms')) return unitText(value, [1, 1000, 86_400_000], ['ms', 's', 'd']);
  return value.toLocaleString('en', { maximumFractionDigits: 3 });
}

function unitText(value: number, factors: number[], names: string[]): string {
  const unit = factors.findLastIndex((factor) => value >= factor && value % factor === 0);
  return `${(value / (factors[unit] ?? 1)).toLocaleString('en')} ${names[unit] ?? names[0]}`;
}

/** Folder -> its limits: two levels below src/. */
export function byFolder(limits: InternalLimit[]): Map<string, InternalLimit[]> {
  return Map.groupBy(limits, ({ file }) => dirname(file).split('/').slice(0, 2).join('/'));
}
