import type { ResultRow, SummaryRow } from '../../domain/result.ts';
import { completeRow, rowLine } from '../record/row-line.ts';
import { inPieces } from './pieces.ts';

/** One object per line: the complete rows, then the summary. */
export async function* renderJsonl(
  rows: AsyncIterable<ResultRow>,
  summary: SummaryRow,
): AsyncGenerator<string> {
  yield* inPieces(jsonlLines(rows, summary));
}

async function* jsonlLines(rows: AsyncIterable<ResultRow>, summary: SummaryRow): AsyncGenerator<string> {
  for await (const row of rows) {
    if (row.type !== 'summary') yield `${rowLine(completeRow(row))}\n`;
  }
  yield `${rowLine(summary)}\n`;
}
