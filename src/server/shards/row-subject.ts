import { parseRow } from '../../workspace/record/row-line.ts';

/** What a row of a worker is about. */
export interface RowSubject {
  type: string;
  /** Null for a row about no host. */
  host: string | null;
}

const types = ['host', 'port', 'vulnerability', 'compliance', 'extra', 'error', 'summary'];

/** Longer lines are parsed: V8 keeps a stack for an expression that may have to go back. */
const mostCharacters = 64 * 1024;

/**
 * A row as this program writes it (`rowLine`): JSON of RFC 8259 without `\u`, without escapes in names, at most three levels
 * deep, whose identity comes first and is not named again. Matching it takes a third of the time of parsing and leaves no
 * objects behind. No two alternatives begin with the same character, so that the time grows with the length only.
 */
export const plainRow = plainRowPattern();

function plainRowPattern(): RegExp {
  const plain = String.raw`[^"\\\u0000-\u001f]*`;
  const text = String.raw`"${plain}(?:\\["\\/bfnrt]${plain})*"`;
  const scalar = String.raw`(?:${text}|-?(?:0|[1-9]\d{0,15})(?:\.\d{1,17})?|true|false|null)`;
  const list = (value: string) => String.raw`\[(?:${value}(?:,${value})*)?\]`;
  const members = (value: string) => String.raw`\{(?:"${plain}":${value}(?:,"${plain}":${value})*)?\}`;
  const either = (value: string) => `(?:${scalar}|${list(value)}|${members(value)})`;
  const value = either(either(scalar));
  const identity = String.raw`"type":"(${types.join('|')})","timestamp":"${plain}"(?:,"host":(?:"(${plain})"|null))?`;
  return new RegExp(String.raw`^\{${identity}(?:,"(?!(?:type|timestamp|host)")${plain}":${value})*\}$`);
}

/** Null for an invalid line. */
export function rowSubject(line: string): RowSubject | null {
  const [, type, host] = (line.length <= mostCharacters && plainRow.exec(line)) || [];
  return type === undefined ? parsedSubject(line) : { type, host: host ?? null };
}

function parsedSubject(line: string): RowSubject | null {
  const row = parseRow(line) as { type?: unknown; timestamp?: unknown; host?: unknown } | null;
  if (row === null || typeof row !== 'object' || typeof row.timestamp !== 'string') return null;
  const { type, host = null } = row;
  if (typeof type !== 'string' || !types.includes(type)) return null;
  return host === null || typeof host === 'string' ? { type, host } : null;
}
