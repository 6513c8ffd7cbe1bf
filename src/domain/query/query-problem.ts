/** Why a text is no query, and where: characters `from` (inclusive) to `to` (exclusive), from 0. */
export class QueryProblem extends Error {
  readonly from: number;
  readonly to: number;

  /** @param reason without the column, which the message begins with */
  constructor(reason: string, from: number, to: number) {
    super(`column ${from + 1}: ${reason}`);
    this.name = 'QueryProblem';
    this.from = from;
    this.to = to;
  }
}

/** Longest text of a query that a message repeats, characters. */
const maxExcerpt = 40;

/** A text of a query as messages repeat it. */
export function excerptOf(text: string): string {
  return `\`${text.length > maxExcerpt ? `${text.slice(0, maxExcerpt).toWellFormed()}…` : text}\``;
}
