import type { Severity } from '../../../domain/finding.ts';
import type { AffectedRange } from '../../model/report.ts';
import { pluralText } from '../../model/report-text.ts';
import type { FlowBlock, PageFlow } from '../flow/page-flow.ts';
import { contentWidth } from '../paper.ts';
import { colors, severityColors, styles } from '../type/styles.ts';
import { baselineOf, type Line, layoutText, plain } from '../type/text-layout.ts';

/** Versions that are shown of more than five: oldest, newest, and the most frequent between. */
const mostVersions = 5;
/** Of a version at an end of the line. */
const mostCharacters = 24;
const height = 38;
/** Of the line within its block. */
const lineAt = 20;
/** From the edges to the first affected and the first fixed version. */
const inset = 26;

type SeenVersion = AffectedRange['seen'][number];

interface ShownVersions {
  shown: SeenVersion[];
  left: number;
}

export function shownVersions(seen: readonly SeenVersion[]): ShownVersions {
  if (seen.length <= mostVersions) return { shown: [...seen], left: 0 };
  const between = seen.slice(1, -1).sort((a, b) => b.hosts - a.hosts);
  const kept = new Set([seen[0], seen.at(-1), ...between.slice(0, mostVersions - 2)]);
  return { shown: seen.filter((version) => kept.has(version)), left: seen.length - kept.size };
}

export function versionLineText({ from, fixed, seen }: AffectedRange): string {
  const { shown, left } = shownVersions(seen);
  const versions = shown.map(({ version }) => version).join(', ');
  const more = left > 0 ? ` and ${left} more` : '';
  const ends = [
    from === null ? 'First affected version not known' : `Affected from ${from}`,
    fixed === null ? 'no fixed version known' : `fixed in ${fixed}`,
  ];
  return `${ends.join(', ')}${versions === '' ? '' : `; seen ${versions}${more}`}`;
}

/** Affected versions as a line, with those that were seen: equal steps, not to scale. */
export function versionScale(flow: PageFlow, range: AffectedRange, severity: Severity): FlowBlock {
  return {
    height,
    before: 6,
    after: 8,
    draw: (y) => {
      const { sheet } = flow;
      sheet.open('Figure', {
        alt: versionLineText(range),
        bbox: [flow.left, y, flow.right, y + height],
      });
      sheet.content(() => drawRange(flow, range, severity, y));
      sheet.close();
    },
  };
}

function drawRange(flow: PageFlow, range: AffectedRange, severity: Severity, y: number): void {
  const { sheet } = flow;
  const color = severityColors[severity].mark;
  const line = y + lineAt;
  const [start, end] = [flow.left + inset, flow.right - inset];
  sheet.rule(flow.left, line, flow.right, line, colors.headLine, 0.75);
  const from = range.from === null ? flow.left : start;
  const to = range.fixed === null ? flow.right : end;
  sheet.rect(from, line - 1.5, to - from, 3, { fill: color });
  if (range.from !== null) drawDot(flow, start, line, color, true);
  if (range.fixed !== null) drawDot(flow, end, line, color, false);
  const { shown, left } = shownVersions(range.seen);
  const step = (end - start) / (shown.length + 1);
  for (const [index, seen] of shown.entries()) drawSeen(flow, seen, start + step * (index + 1), line, step);
  const below = line + 6;
  drawLabel(flow, layoutEnd(flow, endText(range.from, 'first affected')), 'left', below);
  if (left > 0)
    drawLabel(flow, layoutEnd(flow, `and ${pluralText(left, 'more version')} seen`), 'middle', below);
  drawLabel(flow, layoutEnd(flow, endText(range.fixed, 'fixed')), 'right', below);
}

function endText(version: string | null, word: string): string {
  return version === null ? `${word}: not known` : `${version.slice(0, mostCharacters)} ${word}`;
}

function drawDot({ sheet }: PageFlow, x: number, y: number, color: string, filled: boolean): void {
  const circle =
    'M4 0 C4 2.209 2.209 4 0 4 C-2.209 4 -4 2.209 -4 0 C-4 -2.209 -2.209 -4 0 -4 C2.209 -4 4 -2.209 4 0 Z';
  const paint = filled ? { fill: color } : { fill: colors.white, stroke: color, lineWidth: 1.5 };
  sheet.path(circle, { x, y, scale: filled ? 0.9 : 0.85 }, paint);
}

function drawSeen(
  flow: PageFlow,
  { version, hosts }: SeenVersion,
  x: number,
  line: number,
  step: number,
): void {
  flow.sheet.rule(x, line - 8, x, line + 8, colors.text, 1.25);
  const label = hosts > 1 ? `${version}, ${pluralText(hosts, 'host')}` : version;
  const words = hosts > 1 ? `${version} seen, ${pluralText(hosts, 'host')}` : `${version} seen`;
  const style = styles.versionSeen;
  const [full] = layoutText(flow.faces, [plain(words, style)], 400);
  const room = step - 6;
  const [text] =
    full !== undefined && full.width <= room
      ? [full]
      : layoutText(flow.faces, [plain(label, style)], room, { maxLines: 1 });
  if (text === undefined) return;
  drawSpans(flow, text, x - text.width / 2, line - 18 + baselineOf(style));
}

function layoutEnd(flow: PageFlow, text: string): Line | undefined {
  return layoutText(flow.faces, [plain(text, styles.versionEnd)], contentWidth / 3 - 8, { maxLines: 1 })[0];
}

function drawLabel(
  flow: PageFlow,
  line: Line | undefined,
  side: 'left' | 'middle' | 'right',
  top: number,
): void {
  if (line === undefined) return;
  const rest = contentWidth - line.width;
  const x = flow.left + (side === 'left' ? 0 : side === 'right' ? rest : rest / 2);
  drawSpans(flow, line, x, top + baselineOf(styles.versionEnd));
}

function drawSpans({ sheet }: PageFlow, line: Line, x: number, baseline: number): void {
  for (const span of line.spans) {
    if ('style' in span.piece) sheet.text(span.text, span.piece.style, x + span.x, baseline);
  }
}
