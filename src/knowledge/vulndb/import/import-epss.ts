import { cveKey } from '../cve-key.ts';
import { FeedProblem } from './feed-bytes.ts';

export interface EpssScore {
  id: string;
  /** Both 0..1. */
  score: number;
  percentile: number;
}

export interface EpssFeed {
  scores: EpssScore[];
  /** Date of the scores as the file states it. */
  date: string | null;
  refused: number;
  reasons: string[];
}

/** Maximum length of a line, characters. */
const maxLine = 512;
/** Maximum number of rows; FIRST publishes some 300,000. */
const maxRows = 3_000_000;
/** Maximum number of reported reasons. */
const maxReasons = 5;

const rowPattern =
  /^(CVE-\d{4}-\d{4,10}),([01](?:\.\d{1,12})?(?:e-?\d{1,2})?)(?:,([01](?:\.\d{1,12})?(?:e-?\d{1,2})?))?$/i;

/**
 * Reads FIRST's EPSS file: a comment with the date, `cve,epss,percentile`, one row for each CVE. A missing percentile
 * column is computed from the rows.
 *
 * @throws FeedProblem
 */
export async function readEpss(bytes: AsyncIterable<Buffer>): Promise<EpssFeed> {
  const feed: EpssFeed = { scores: [], date: null, refused: 0, reasons: [] };
  const ranked: boolean[] = [];
  let number = 0;
  for await (const line of linesOf(bytes)) {
    number++;
    if (line.startsWith('#')) feed.date ??= dateOf(line);
    else if (/^cve,epss\b/i.test(line) || line.trim() === '') continue;
    else {
      const [, id, score, percentile] = rowPattern.exec(line.trimEnd()) ?? [];
      const known = id !== undefined && cveKey(id.toUpperCase()) !== null && Number(score) <= 1;
      if (!known || Number(percentile ?? 0) > 1) {
        feed.refused++;
        if (feed.reasons.length < maxReasons) feed.reasons.push(`line ${number} is not an EPSS row`);
        continue;
      }
      feed.scores.push({ id: id.toUpperCase(), score: Number(score), percentile: Number(percentile ?? 0) });
      ranked.push(percentile !== undefined);
      if (feed.scores.length > maxRows) throw new FeedProblem(`has more than ${maxRows} rows`);
    }
  }
  if (!ranked.every(Boolean)) countPercentiles(feed.scores);
  return feed;
}

function dateOf(comment: string): string | null {
  return /score_date:(\d{4}-\d\d(?:-\d\d)?)/.exec(comment)?.[1] ?? null;
}

/** The share of rows with this score or a lower one. */
function countPercentiles(scores: EpssScore[]): void {
  const ascending = scores.toSorted((a, b) => a.score - b.score);
  let place = ascending.length;
  for (let index = ascending.length - 1; index >= 0; index--) {
    const entry = ascending[index] as EpssScore;
    if (entry.score < (ascending[place - 1] as EpssScore).score) place = index + 1;
    entry.percentile = place / ascending.length;
  }
}

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of bytes) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLine || lines.some(({ length }) => length > maxLine)) {
      throw new FeedProblem(`has a line of more than ${maxLine} characters`);
    }
    yield* lines;
  }
  if (rest !== '') yield rest;
}
