import { type FindingClass, findingClasses, type Severity } from '../../../domain/finding.ts';
import type { ClassCounts } from '../../model/report.ts';
import type { Sheet } from '../sheet/sheet.ts';
import { colors, severityColors } from '../type/styles.ts';

const barHeight = 9;
const barGap = 1.5;
const leastWidth = 2.5;

/** One part of a bar: solid, hatched or outlined, so that it is told apart without color. */
export function drawBarPart(
  sheet: Sheet,
  kind: FindingClass,
  color: string,
  box: { x: number; y: number; width: number; height: number },
): void {
  const { x, y, width, height } = box;
  if (kind === 'certain') {
    sheet.rect(x, y, width, height, { fill: color });
    return;
  }
  if (kind === 'likely') {
    // 45°, 1.6 of each 4 points.
    sheet.clipped(x, y, width, height, () => {
      for (let at = x - height; at < x + width; at += 4) {
        sheet.rule(at, y + height, at + height, y, color, 1.15);
      }
    });
  }
  const line = 0.9;
  const inner = { stroke: color, lineWidth: line };
  sheet.rect(x + line / 2, y + line / 2, Math.max(width - line, 0.1), height - line, inner);
}

/** Certain, likely and possible findings beside each other, in the room of a cell. `most`: the count of a full bar. */
export function drawSeverityBar(
  sheet: Sheet,
  severity: Severity,
  counts: ClassCounts,
  most: number,
  cell: { x: number; y: number; width: number; height: number },
): void {
  if (most <= 0) return;
  // Gaps and least widths must not push the longest bar out of its cell.
  const room = cell.width - 2 * (barGap + leastWidth);
  let { x } = cell;
  const y = cell.y + (cell.height - barHeight) / 2;
  for (const kind of findingClasses) {
    if (counts[kind] === 0) continue;
    const width = Math.max(leastWidth, (room * counts[kind]) / most);
    drawBarPart(sheet, kind, severityColors[severity].mark, { x, y, width, height: barHeight });
    x += width + barGap;
  }
}

/** A neutral bar in the room of a cell. */
export function drawNeutralBar(
  sheet: Sheet,
  count: number,
  most: number,
  cell: { x: number; y: number; width: number; height: number },
): void {
  if (most <= 0 || count <= 0) return;
  const width = Math.max(leastWidth, (cell.width * count) / most);
  sheet.rect(cell.x, cell.y + (cell.height - 7) / 2, width, 7, { fill: colors.bar });
}
