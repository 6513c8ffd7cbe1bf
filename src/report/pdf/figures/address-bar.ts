import type { FindingClass } from '../../../domain/finding.ts';
import type { Coverage } from '../../model/report.ts';
import { numberText } from '../../model/report-text.ts';
import type { FlowBlock, PageFlow } from '../flow/page-flow.ts';
import { contentWidth } from '../paper.ts';
import { colors, styles } from '../type/styles.ts';
import { baselineOf, textWidth } from '../type/text-layout.ts';
import { drawBarPart } from './bars.ts';

const barHeight = 11;
const partGap = 1.5;
const leastWidth = 2.5;
const legendTop = 17;
const legendLine = 13;

/** Fill of a part: solid, outline and hatched, as for classes of findings. */
interface BarPart {
  fill: FindingClass;
  count: number;
  word: string;
}

/** One stacked bar of all addresses with its legend. */
export function addressBar(flow: PageFlow, addresses: Coverage['addresses']): FlowBlock {
  const parts: BarPart[] = [
    { fill: 'certain' as const, count: addresses.responded, word: 'answered' },
    { fill: 'possible' as const, count: addresses.silent, word: 'did not answer' },
    { fill: 'likely' as const, count: addresses.excluded, word: 'excluded' },
  ].filter(({ count }) => count > 0);
  const height = legendTop + legendLine;
  const alt = `Addresses: ${parts.map(textOf).join(', ')}`;
  return {
    height,
    after: 6,
    draw: (y) => {
      const { sheet, left, right } = flow;
      sheet.open('Figure', { alt, bbox: [left, y, right, y + height] });
      sheet.content(() => {
        drawParts(flow, parts, y);
        drawLegend(flow, parts, y + legendTop);
      });
      sheet.close();
    },
  };
}

function textOf({ count, word }: BarPart): string {
  return `${numberText(count)} ${word}`;
}

function drawParts(flow: PageFlow, parts: readonly BarPart[], y: number): void {
  const all = parts.reduce((sum, { count }) => sum + count, 0);
  // Gaps and least widths must not push the last part over the edge.
  const room = contentWidth - parts.length * (partGap + leastWidth);
  let x = flow.left;
  for (const { fill, count } of parts) {
    const width = leastWidth + (room * count) / all;
    drawBarPart(flow.sheet, fill, colors.second, { x, y, width, height: barHeight });
    x += width + partGap;
  }
}

function drawLegend(flow: PageFlow, parts: readonly BarPart[], y: number): void {
  const { sheet, faces } = flow;
  const style = styles.cellSecond;
  const baseline = y + baselineOf({ size: style.size, line: legendLine });
  let x = flow.left;
  for (const part of parts) {
    const box = { x, y: y + (legendLine - 6) / 2, width: 9, height: 6 };
    drawBarPart(sheet, part.fill, colors.second, box);
    sheet.text(textOf(part), style, x + 12, baseline);
    x += 12 + textWidth(faces, textOf(part), style) + 16;
  }
}
