import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../program.ts';

/** A fenced block of a page. */
export interface Block {
  /** The word behind the fence: `sh`, `console`, `python`; empty without one. */
  language: string;
  text: string;
  /** The nearest heading above it. */
  heading: string;
}

/** A command of a `console` block and what the page says that it prints. */
export interface Step {
  command: string;
  output: string;
}

export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** Every page of docs/, in their order by name. */
export function docsPages(): string[] {
  return readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .toSorted();
}

export function blocksOf(markdown: string): Block[] {
  const parts = markdown.matchAll(/^#+ (?<heading>.*)$|^```(?<language>\w*)\n(?<text>[\s\S]*?)^```$/gm);
  let heading = '';
  const blocks: Block[] = [];
  for (const { groups } of parts) {
    if (groups?.['text'] === undefined) heading = groups?.['heading'] ?? '';
    else blocks.push({ language: groups['language'] ?? '', text: groups['text'], heading });
  }
  return blocks;
}

/** Commands begin with `$ `; one goes on behind a backslash, and to the `END` of a here document. */
export function stepsOf(block: string): Step[] {
  const steps: Step[] = [];
  for (const line of block.trimEnd().split('\n')) {
    const last = steps.at(-1);
    if (last && goesOn(last.command)) last.command += `\n${line}`;
    else if (line.startsWith('$ ')) steps.push({ command: line.slice(2), output: '' });
    else if (last) last.output += `${line}\n`;
  }
  return steps;
}

function goesOn(command: string): boolean {
  return command.endsWith('\\') || (command.includes("<<'END'") && !command.endsWith('\nEND'));
}

export function consoleText(steps: readonly Step[]): string {
  return steps.map(({ command, output }) => `$ ${command}\n${output}`).join('');
}

/** Anchors of the headings, as GitHub makes them. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const outside = markdown.replace(/^```[\s\S]*?^```$/gm, '');
  for (const [, heading = ''] of outside.matchAll(/^#+ (.*)$/gm)) {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const base = text.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    let anchor = base;
    for (let again = 1; anchors.has(anchor); again++) anchor = `${base}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
}
