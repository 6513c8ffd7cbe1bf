import type { Run, Style } from './terminal-screen.ts';

/** What the terminal shows from a time on, milliseconds. */
export interface Frame {
  at: number;
  rows: Run[][];
}

export interface Recording {
  title: string;
  columns: number;
  frames: readonly Frame[];
}

/** Pixels: a cell, the space around, the bar with the title. */
const cell = { width: 8.4, height: 19 };
const space = 16;
const bar = 34;
/** How long the last frame stays before the recording begins again, milliseconds. */
const lastFrameMs = 8000;
const palette: Record<string, string> = {
  black: '#484f58',
  red: '#ff8a80',
  green: '#7ee787',
  yellow: '#e5c07b',
  blue: '#79c0ff',
  magenta: '#d2a8ff',
  cyan: '#56d4dd',
  white: '#f0f3f6',
};
const paper = { text: '#d0d7de', dim: '#8b949e', bold: '#f0f3f6', ground: '#0d1117' };

/**
 * A recording as an SVG without scripts: frames stand below each other, and an animation moves the strip. Each row is
 * there once. Who wants no motion sees the last frame.
 */
export function terminalSvg({ title, columns, frames }: Recording): string {
  const height = Math.max(...frames.map(({ rows }) => rows.length));
  const size = { width: columns * cell.width + 2 * space, height: bar + height * cell.height + space };
  const names = new Map<string, string>();
  const strip = frames.map(({ rows }, index) =>
    rows
      .flatMap((runs, row) => {
        const drawn = runs.map(drawRun).join('');
        if (drawn === '') return [];
        const name = names.get(drawn) ?? `r${names.size}`;
        names.set(drawn, name);
        return `<use href="#${name}" y="${index * size.height + row * cell.height}"/>`;
      })
      .join(''),
  );
  const defs = [...names].map(([drawn, name]) => `<g id="${name}">${drawn}</g>`);
  const [width, full] = [round(size.width), round(size.height)];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${full}" viewBox="0 0 ${width} ${full}" role="img" aria-label="${escaped(title)}">
<style>text{font:14px ui-monospace,"JetBrains Mono","DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre}${motion(frames, size.height)}</style>
<defs>${defs.join('\n')}</defs>
<rect width="100%" height="100%" rx="8" fill="${paper.ground}" stroke="#30363d"/><rect x="1" y="1" width="${round(size.width - 2)}" height="25" rx="7" fill="#161b22"/>
<text x="${round(size.width / 2)}" y="18" fill="${paper.dim}" text-anchor="middle" style="font:12px system-ui,sans-serif">${escaped(title)}</text>
<svg x="${space}" y="${bar}" width="${round(size.width - 2 * space)}" height="${height * cell.height + 4}"><g class="strip">
${strip.join('\n')}
</g></svg>
</svg>
`;
}

function motion(frames: readonly Frame[], step: number): string {
  const total = (frames.at(-1)?.at ?? 0) + lastFrameMs;
  const places = frames.map(
    ({ at }, index) => `${round((at * 100) / total)}%{transform:translateY(${round(-index * step)}px)}`,
  );
  const last = `transform:translateY(${round(-(frames.length - 1) * step)}px)`;
  return `.strip{${last}}@media (prefers-reduced-motion:no-preference){.strip{animation:play ${round(total / 1000)}s step-end infinite}}@keyframes play{${places.join('')}100%{${last}}}`;
}

function drawRun({ column, text, style }: Run): string {
  const blanks = text.length - text.trimStart().length;
  const shownText = style.inverted ? text : text.trim();
  const x = round((column + (style.inverted ? 0 : blanks)) * cell.width);
  const width = round([...shownText].length * cell.width);
  const ground = style.inverted ? `<rect x="${x}" width="${width}" height="17" fill="${paper.text}"/>` : '';
  const bold = style.bold ? ' font-weight="700"' : '';
  return `${ground}<text x="${x}" y="14" fill="${fill(style)}"${bold} textLength="${width}">${escaped(shownText)}</text>`;
}

function fill({ color, bold, dim, inverted }: Style): string {
  if (inverted) return paper.ground;
  if (color !== null) return palette[color] ?? paper.text;
  return dim ? paper.dim : bold ? paper.bold : paper.text;
}

function round(number: number): string {
  return String(Math.round(number * 100) / 100);
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
