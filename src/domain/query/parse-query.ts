import { parseAddress } from '../targets/address.ts';
import { nearest } from '../text/nearest.ts';
import type { Query, QueryCondition, QueryGroup, QueryText } from './query.ts';
import { type ConditionOperator, queryFieldOf, queryFieldWords } from './query-fields.ts';
import { excerptOf, QueryProblem } from './query-problem.ts';
import { closingQuote, type QueryToken, queryTokens, unquoted } from './query-tokens.ts';
import { readValues } from './query-values.ts';

/** Longest query, characters. */
const maxQueryLength = 2000;
/** Values and free texts of a query. */
const maxConditions = 64;
/** Nesting of `not` and parentheses, levels. */
const maxDepth = 16;

/**
 * Reads a query: conditions `field:value`, free text, `and`, `or`, `not`, parentheses. See docs/queries.md.
 * @returns null for an empty text, which matches everything
 * @throws QueryProblem, and nothing else
 */
export function parseQuery(text: string): Query | null {
  checkCharacters(text);
  const tokens = queryTokens(text);
  return tokens.length === 0 ? null : new QueryParser(text, tokens).parse();
}

function checkCharacters(text: string): void {
  if (text.length > maxQueryLength)
    throw new QueryProblem(`a query has at most ${maxQueryLength} characters`, maxQueryLength, text.length);
  // A line break between conditions is a blank.
  const wrong = text.search(/(?![\t\n\r])\p{Cc}|\p{Cs}/u);
  if (wrong >= 0) throw new QueryProblem('a control character or half a character', wrong, wrong + 1);
}

const fieldPattern = /([a-z_][a-z0-9_-]*):/iy;
const operatorPattern = /[<>]=?|=/y;
const keywords: ReadonlySet<string> = new Set(['and', 'or', 'not']);

/** Recursive descent; every token is read once. */
class QueryParser {
  readonly #text: string;
  readonly #tokens: readonly QueryToken[];
  #next = 0;
  #depth = 0;
  #conditions = 0;

  constructor(text: string, tokens: readonly QueryToken[]) {
    this.#text = text;
    this.#tokens = tokens;
  }

  parse(): Query {
    const query = this.#or();
    const rest = this.#tokens[this.#next];
    if (rest) throw new QueryProblem('`)` without `(`', rest.from, rest.to);
    return query;
  }

  #or(): Query {
    const terms = [this.#and()];
    while (this.#skip('or')) terms.push(this.#and());
    return group('or', terms);
  }

  #and(): Query {
    const terms = [this.#not()];
    while (this.#skip('and') || this.#startsTerm()) terms.push(this.#not());
    return group('and', terms);
  }

  #startsTerm(): boolean {
    const token = this.#tokens[this.#next];
    return token !== undefined && token.kind !== 'close' && this.#keyword(token) !== 'or';
  }

  #not(): Query {
    const token = this.#tokens[this.#next];
    if (token === undefined) throw this.#missing(this.#text.length, this.#text.length);
    if (token.kind === 'close') throw this.#missing(token.from, token.to);
    const keyword = this.#keyword(token);
    if (keyword === 'and' || keyword === 'or') throw this.#missing(token.from, token.to);
    this.#next += 1;
    if (keyword === 'not') return this.#nested(token, () => this.#negation(token));
    if (token.kind === 'open') return this.#nested(token, () => this.#parentheses(token));
    return this.#leaf(token);
  }

  #missing(from: number, to: number): QueryProblem {
    const before = this.#tokens[this.#next - 1];
    const what = before === undefined ? null : this.#text.slice(before.from, before.to);
    const reason =
      what === null ? 'a condition must come first' : `a condition is missing behind ${excerptOf(what)}`;
    return new QueryProblem(reason, from, to);
  }

  #nested<T>(token: QueryToken, read: () => T): T {
    if (this.#depth >= maxDepth)
      throw new QueryProblem(`more than ${maxDepth} levels of parentheses and \`not\``, token.from, token.to);
    this.#depth += 1;
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #negation({ from }: QueryToken): Query {
    const term = this.#not();
    return { kind: 'not', term, from, to: term.to };
  }

  #parentheses(open: QueryToken): Query {
    const inner = this.#or();
    const close = this.#tokens[this.#next];
    if (close?.kind !== 'close') throw new QueryProblem('`(` without `)`', open.from, open.to);
    this.#next += 1;
    return { ...inner, from: open.from, to: close.to };
  }

  #skip(keyword: string): boolean {
    const token = this.#tokens[this.#next];
    if (token === undefined || this.#keyword(token) !== keyword) return false;
    this.#next += 1;
    return true;
  }

  #keyword({ kind, from, to }: QueryToken): string | null {
    if (kind !== 'run' || to - from > 3) return null;
    const word = this.#text.slice(from, to).toLowerCase();
    return keywords.has(word) ? word : null;
  }

  #leaf(token: QueryToken): Query {
    if (token.openQuote !== null)
      throw new QueryProblem('the quote is not closed', token.openQuote, token.to);
    const raw = this.#text.slice(token.from, token.to);
    const lineBreak = raw.search(/[\t\n\r]/);
    if (lineBreak >= 0)
      throw new QueryProblem('a line break or tab within quotes', token.from + lineBreak, token.to);
    const query = this.#condition(token) ?? this.#freeText(token, raw);
    this.#conditions += query.kind === 'condition' ? query.values.length : 1;
    if (this.#conditions > maxConditions)
      throw new QueryProblem(`more than ${maxConditions} conditions and values`, token.from, token.to);
    return query;
  }

  /** @returns null for free text */
  #condition({ from, to }: QueryToken): QueryCondition | null {
    fieldPattern.lastIndex = from;
    const word = fieldPattern.exec(this.#text)?.[1];
    if (word === undefined) return null;
    const field = queryFieldOf(word);
    if (field === null) {
      if (parseAddress(this.#text.slice(from, to)) !== null) return null;
      throw unknownField(word, from);
    }
    const behindColon = from + word.length + 1;
    operatorPattern.lastIndex = behindColon;
    const operator = (operatorPattern.exec(this.#text)?.[0] ?? ':') as ConditionOperator;
    const start = behindColon + (operator === ':' ? 0 : operator.length);
    const values = readValues(this.#text, start, to, field, operator);
    return { kind: 'condition', field: field.name, operator, values, from, to };
  }

  #freeText({ from, to }: QueryToken, raw: string): QueryText {
    if (raw.startsWith('"')) {
      const close = closingQuote(raw, 0) as number;
      if (close !== raw.length - 1)
        throw new QueryProblem('a blank is missing behind the quote', from + close + 1, to);
      return this.#textTerm(unquoted(raw.slice(1, close)), from, to);
    }
    const quote = raw.indexOf('"');
    if (quote >= 0) throw new QueryProblem('a blank is missing before the quote', from + quote, to);
    rejectMistake(raw, from, to);
    // Free text is searched for anywhere, so wildcards at its ends change nothing.
    return this.#textTerm(raw.replaceAll(/^\*+|(?<!\*)\*+$/g, ''), from, to);
  }

  #textTerm(text: string, from: number, to: number): QueryText {
    if (text === '') throw new QueryProblem('an empty text', from, to);
    return { kind: 'text', text, from, to };
  }
}

function group(kind: QueryGroup['kind'], read: readonly Query[]): Query {
  const [only] = read;
  if (only !== undefined && read.length === 1) return only;
  const terms = read.flatMap((term) => (term.kind === kind ? term.terms : [term]));
  return { kind, terms, from: (read[0] as Query).from, to: (read.at(-1) as Query).to };
}

function unknownField(word: string, from: number): QueryProblem {
  const guess = nearest(word.toLowerCase(), queryFieldWords);
  const hint = guess === null ? 'quote a text that contains a colon' : `did you mean \`${guess}\`?`;
  return new QueryProblem(`unknown field ${excerptOf(word)}; ${hint}`, from, from + word.length);
}

/** @throws QueryProblem for words that mean a condition in other languages */
function rejectMistake(raw: string, from: number, to: number): void {
  const compared = /^([a-z_]+)([<>]=?|=)(.*)$/is.exec(raw);
  const field = compared?.[1] === undefined ? null : queryFieldOf(compared[1]);
  if (compared && field)
    throw new QueryProblem(
      `did you mean ${excerptOf(`${field.name}:${compared[2] === '=' ? '' : compared[2]}${compared[3]}`)}?`,
      from,
      to,
    );
  const negated = /^[-!]([a-z_]+):/i.exec(raw);
  if (negated?.[1] !== undefined && queryFieldOf(negated[1]) !== null)
    throw new QueryProblem(`write ${excerptOf(`not ${raw.slice(1)}`)}`, from, to);
}
