import { type Fact, paragraphBlock } from '../flow/blocks.ts';
import type { PageFlow } from '../flow/page-flow.ts';
import { contentWidth } from '../paper.ts';
import { styles } from '../type/styles.ts';
import { plain } from '../type/text-layout.ts';

export interface PairedFact extends Fact {
  /** Takes both columns. */
  wide?: boolean;
}

/** Points: width of a label, and where the second column begins. */
const labelWidth = 62;
const second = 255;
const columnGap = 12;
const line = 13;

/** Labels and values in two columns. They stay with what follows. */
export function factPairs(flow: PageFlow, facts: readonly PairedFact[]): void {
  for (const row of rowsOf(facts)) {
    const cells = row.map((fact, index) => factCell(flow, fact, index === 0 ? 0 : second));
    flow.keep({
      height: Math.max(...cells.map(({ height }) => height)),
      draw: (y) => {
        flow.sheet.open('L');
        for (const cell of cells) cell.draw(y);
        flow.sheet.close();
      },
    });
  }
}

function rowsOf(facts: readonly PairedFact[]): PairedFact[][] {
  const rows: PairedFact[][] = [];
  for (const fact of facts) {
    const last = rows.at(-1);
    if (fact.wide || last === undefined || last.length === 2 || last[0]?.wide) rows.push([fact]);
    else last.push(fact);
  }
  return rows;
}

function factCell(flow: PageFlow, fact: PairedFact, x: number): { height: number; draw(y: number): void } {
  const indent = x + labelWidth;
  const width = (fact.wide || x > 0 ? contentWidth : second - columnGap) - indent;
  const label = paragraphBlock(flow, [plain(fact.label, styles.cellThird)], { indent: x, line, tag: 'Lbl' });
  const value = paragraphBlock(flow, fact.value, { indent, width, line, tag: 'LBody', maxLines: 3 });
  return {
    height: Math.max(label.height, value.height),
    draw: (y) => {
      flow.sheet.open('LI');
      label.draw(y);
      value.draw(y);
      flow.sheet.close();
    },
  };
}
