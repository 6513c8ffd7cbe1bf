import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const src = resolve(import.meta.dirname, '../../src');

/** A regular expression literal of the source. */
export interface SourcePattern {
  /** Of the first file that holds it, below `src/`. */
  file: string;
  line: number;
  pattern: string;
  flags: string;
}

function sourceFiles(dir = src): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory())
      return entry.name === 'gen' || entry.name === 'fixtures' ? [] : sourceFiles(path);
    return /(?<!\.test)(?<!\.d)\.ts$/.test(entry.name) ? [path] : [];
  });
}

/** All regular expression literals of the source, deduplicated. */
export function sourcePatterns(): SourcePattern[] {
  const found = new Map<string, SourcePattern>();
  for (const path of sourceFiles()) {
    for (const literal of regexLiterals(readFileSync(path, 'utf8'))) {
      const key = `/${literal.pattern}/${literal.flags}`;
      if (!found.has(key)) found.set(key, { file: relative(src, path), ...literal });
    }
  }
  return [...found.values()];
}

/** Files that build expressions at run time. */
export function filesWithBuiltPatterns(): string[] {
  return sourceFiles()
    .filter((path) => /(?<![\w.])RegExp\(/.test(readFileSync(path, 'utf8')))
    .map((path) => relative(src, path));
}

type Token = { type: 'skip' | 'value' | 'sign' | 'regex'; text: string };

/**
 * The literals of a TypeScript file. A slash begins one where no value stands before it; strings, templates (with what
 * they embed) and comments are skipped.
 */
export function regexLiterals(code: string): { line: number; pattern: string; flags: string }[] {
  const literals: { line: number; pattern: string; flags: string }[] = [];
  let valueBefore = false;
  /** Open braces of each embedded expression of a template. */
  const templates: number[] = [];
  for (let at = 0; at < code.length; ) {
    const { type, text } = tokenAt(code, at, valueBefore);
    if (type === 'regex') {
      const end = text.lastIndexOf('/');
      const line = code.slice(0, at).split('\n').length;
      literals.push({ line, pattern: text.slice(1, end), flags: text.slice(end + 1) });
    }
    at += text.length;
    if (type === 'skip') continue;
    valueBefore = type !== 'sign';
    if (text === '{' && templates.length > 0) templates.push((templates.pop() ?? 0) + 1);
    if (text === '`') {
      const part = templatePart(code, at);
      at = part.end;
      if (part.embeds) templates.push(0);
      valueBefore = !part.embeds;
    } else if (text === '}' && templates.length > 0) {
      const open = templates.pop() ?? 0;
      if (open > 0) templates.push(open - 1);
      else {
        const part = templatePart(code, at);
        at = part.end;
        if (part.embeds) templates.push(0);
        valueBefore = !part.embeds;
      }
    }
  }
  return literals;
}

/** The rest of a template's text: up to behind its closing mark or behind the `${` of an embedded expression. */
function templatePart(code: string, start: number): { end: number; embeds: boolean } {
  for (let at = start; at < code.length; at++) {
    if (code[at] === '\\') at++;
    else if (code[at] === '`') return { end: at + 1, embeds: false };
    else if (code[at] === '$' && code[at + 1] === '{') return { end: at + 2, embeds: true };
  }
  throw new Error('unclosed template');
}

const skipped = /\s+|\/\/[^\n]*|\/\*[^]*?\*\//y;
const words = /[\w$#]+/y;
const strings = /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/y;
const regexes = /\/(?:[^/\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+\/[a-z]*/y;
/** Words after which a value may begin. */
const openWords = /^(?:return|typeof|case|in|of|await|yield|void|delete|throw|else|do|instanceof)$/;

function tokenAt(code: string, at: number, valueBefore: boolean): Token {
  const read = (expression: RegExp) => {
    expression.lastIndex = at;
    return expression.exec(code)?.[0];
  };
  const skip = read(skipped);
  if (skip) return { type: 'skip', text: skip };
  const word = read(words);
  if (word) return { type: openWords.test(word) ? 'sign' : 'value', text: word };
  const string = read(strings);
  if (string) return { type: 'value', text: string };
  const regex = !valueBefore && code[at] === '/' && read(regexes);
  if (regex) return { type: 'regex', text: regex };
  const sign = code[at] as string;
  return { type: ')]'.includes(sign) ? 'value' : 'sign', text: sign };
}
