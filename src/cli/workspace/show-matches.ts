import {
  matchingRows,
  noMatches,
  type QueryMatches,
  type RecordCounts,
} from '../../actions/results/match-records.ts';
import { showScan } from '../../actions/scans/show-scan.ts';
import { parseQuery } from '../../domain/query/parse-query.ts';
import type { Query } from '../../domain/query/query.ts';
import { QueryProblem } from '../../domain/query/query-problem.ts';
import type { ResultRow } from '../../domain/result.ts';
import { openResults } from '../../scan-run/results/open-results.ts';
import { completeRow, jsonText, rowLine } from '../../workspace/record/row-line.ts';
import { renderCsv } from '../../workspace/render/csv.ts';
import { damageNote } from '../results/damage-warning.ts';
import { makeSafe } from '../results/local-result.ts';
import { resultStyle } from '../results/result-style.ts';
import { renderTable } from '../results/result-table.ts';
import { scanIn, scanOn } from '../session/scan-choice.ts';
import { namedClient } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { withStore } from '../session/session.ts';
import { countText } from '../terminal/draw/amounts.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { writeResult } from '../terminal/output.ts';
import { localRecord } from './local-record.ts';
import { remoteMatches } from './remote-matches.ts';

export interface MatchFlags extends ServerFlags {
  query: string;
  format: string;
}

/** Prints the results of a scan that match a query. @throws PortolanError `usage` for a text that is no query */
export async function showMatches(text: string, flags: MatchFlags, global: GlobalFlags): Promise<void> {
  const query = readQuery(flags.query);
  const counted = noMatches();
  const print = async (id: string, rows: AsyncIterable<ResultRow>) =>
    await writeResult(null, renderMatches({ id, text: flags.query, rows, counted }, flags.format, global));
  const client = await namedClient(flags, global);
  if (client) {
    const id = await scanOn(client, text);
    await print(id, await remoteMatches(client, id, flags.query, counted));
  } else
    await withStore(global, async (session) => {
      const scan = await showScan(session.store, await scanIn(session.store, text));
      const { scan_id: id } = scan;
      const results = await openResults(scan, await localRecord(session, id), damageNote(session.store));
      try {
        await print(id, matchingRows(results.rows(), query, counted));
      } finally {
        await results.close();
      }
    });
}

function readQuery(text: string): Query | null {
  try {
    return parseQuery(text);
  } catch (error) {
    if (error instanceof QueryProblem) throw usage(`--query: ${error.message}`);
    throw error;
  }
}

interface MatchRequest {
  id: string;
  /** The query as written. */
  text: string;
  /** The rows that match. */
  rows: AsyncIterable<ResultRow>;
  /** Complete when all rows were read. */
  counted: QueryMatches;
}

async function* renderMatches(
  request: MatchRequest,
  format: string,
  global: GlobalFlags,
): AsyncIterable<string> {
  const { rows, counted } = request;
  switch (format) {
    case 'json':
      return yield* makeSafe('json', jsonOf(request));
    case 'jsonl':
      return yield* makeSafe('jsonl', linesOf(rows));
    case 'csv':
      return yield* makeSafe('csv', renderCsv(rows));
    default:
      yield* renderTable(rows, null, resultStyle(null, global), { isWhole: true });
      yield `${counted.matches.hosts === 0 ? '' : '\n'}${countsText(counted)}\n`;
  }
}

/** One object; a record per line, and the counts at the end, known only then. */
async function* jsonOf({ id, text, rows, counted }: MatchRequest): AsyncGenerator<string> {
  yield `{"scan_id":${jsonText(id)},"query":${jsonText(text)},"records":[`;
  let separator = '\n';
  for await (const row of rows) {
    yield `${separator}${rowText(row)}`;
    separator = ',\n';
  }
  yield `\n],"matches":${jsonText(counted.matches)},"totals":${jsonText(counted.totals)}}\n`;
}

async function* linesOf(rows: AsyncIterable<ResultRow>): AsyncGenerator<string> {
  for await (const row of rows) yield `${rowText(row)}\n`;
}

function rowText(row: ResultRow): string {
  return rowLine(row.type === 'summary' ? row : completeRow(row));
}

/** `12 of 38 hosts, 14 of 121 ports, 46 of 87 findings match` */
function countsText({ matches, totals }: QueryMatches): string {
  const names: Record<keyof RecordCounts, string> = { hosts: 'host', ports: 'port', findings: 'finding' };
  const parts = Object.entries(names).map(
    ([key, name]) =>
      `${matches[key as keyof RecordCounts]} of ${countText(totals[key as keyof RecordCounts], name)}`,
  );
  return `${parts.join(', ')} match`;
}
