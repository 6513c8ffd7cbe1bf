import { type Address, formatAddress, parseAddress, parseNetwork } from '../targets/address.ts';
import { nearest } from '../text/nearest.ts';
import { addressKeyOf, isVersion } from './compare-values.ts';
import type { QueryValue } from './query.ts';
import { type ConditionOperator, isOrdered, type QueryField } from './query-fields.ts';
import { excerptOf, QueryProblem } from './query-problem.ts';
import { closingQuote, unquoted } from './query-tokens.ts';

/** A value as it is written. */
interface WrittenValue {
  text: string;
  quoted: boolean;
  /** Wildcards before and behind it. */
  startStar: boolean;
  endStar: boolean;
  from: number;
  to: number;
}

/** Reads the values of a condition: `22,80,8000-8100`, `"Apache httpd"`, `*.example.com`. @throws QueryProblem */
export function readValues(
  source: string,
  from: number,
  to: number,
  field: QueryField,
  operator: ConditionOperator,
): QueryValue[] {
  if (!isOrdered(field) && operator !== ':' && operator !== '=')
    throw new QueryProblem(
      `\`${field.name}\` has no order; quote a value that begins with \`${operator}\``,
      from - operator.length,
      from,
    );
  const written = splitValues(source, from, to, field);
  if (written.length > 1 && operator !== ':' && operator !== '=')
    throw new QueryProblem(`\`${operator}\` takes one value`, from, to);
  return written.map((value) => readValue(value, field, operator));
}

function splitValues(source: string, from: number, to: number, field: QueryField): WrittenValue[] {
  const values: WrittenValue[] = [];
  for (let at = from; ; ) {
    const value = writtenValue(source, at, to);
    if (value.text === '' && !(value.startStar && !value.endStar && !value.quoted))
      throw new QueryProblem(
        `\`${field.name}\` needs a value directly behind the colon`,
        value.from,
        value.to,
      );
    values.push(value);
    if (value.to >= to) return values;
    if (source[value.to] !== ',') throw new QueryProblem('a blank or a comma is missing here', value.to, to);
    at = value.to + 1;
  }
}

function writtenValue(source: string, from: number, to: number): WrittenValue {
  const startStar = source[from] === '*' && from < to;
  const start = startStar ? from + 1 : from;
  if (source[start] !== '"' || start >= to) return bareValue(source, from, start, to);
  const close = closingQuote(source, start) ?? to - 1;
  const endStar = source[close + 1] === '*' && close + 1 < to;
  return {
    text: unquoted(source.slice(start + 1, close)),
    quoted: true,
    startStar,
    endStar,
    from,
    to: close + (endStar ? 2 : 1),
  };
}

function bareValue(source: string, from: number, start: number, to: number): WrittenValue {
  let end = start;
  while (end < to && source[end] !== ',' && source[end] !== '"') end += 1;
  const endStar = end > start && source[end - 1] === '*';
  const text = source.slice(start, endStar ? end - 1 : end);
  if (text.includes('*'))
    throw new QueryProblem(
      '`*` stands at the start or the end of a value; quote it as a character',
      from,
      end,
    );
  return { text, quoted: false, startStar: start > from, endStar, from, to: end };
}

function readValue(written: WrittenValue, field: QueryField, operator: ConditionOperator): QueryValue {
  const { text, quoted, startStar, endStar, from, to } = written;
  const isEquality = operator === ':' || operator === '=';
  if (startStar || endStar) {
    if (operator !== ':') throw new QueryProblem(`\`*\` does not fit \`${operator}\``, from, to);
    if (text === '') return { kind: 'any' };
    return wildcardText(written, field);
  }
  if (!quoted && text.toLowerCase() === 'none') {
    if (isEquality) return { kind: 'none' };
    throw new QueryProblem(`\`none\` does not fit \`${operator}\``, from, to);
  }
  if (operator === '=' && takesText(field) && field.kind !== 'address')
    return { kind: 'text', text, match: 'whole' };
  return typedValue(written, field, isEquality);
}

function takesText({ kind }: QueryField): boolean {
  return kind === 'text' || kind === 'state' || kind === 'version' || kind === 'address';
}

function wildcardText({ text, startStar, endStar, from, to }: WrittenValue, field: QueryField): QueryValue {
  if (!takesText(field)) throw new QueryProblem(`\`${field.name}\` takes no wildcard`, from, to);
  return { kind: 'text', text, match: startStar && endStar ? 'part' : startStar ? 'end' : 'start' };
}

function typedValue(written: WrittenValue, field: QueryField, isEquality: boolean): QueryValue {
  const { text, from, to } = written;
  const problem = (reason: string) => new QueryProblem(reason, from, to);
  switch (field.kind) {
    case 'text':
    case 'state':
      return { kind: 'text', text, match: field.match };
    case 'version':
      if (isEquality || isVersion(text)) return { kind: 'version', text };
      throw problem(`${excerptOf(text)} is not a version`);
    case 'port':
    case 'number':
      return numbers(written, field, isEquality);
    case 'address':
      return addressValue(written, isEquality);
    case 'boolean':
      return booleanValue(written, field);
    case 'time': {
      const time = timeValue(text);
      if (time) return time;
      throw problem(`${excerptOf(text)} is not a time; write \`2026-11-23\` or \`2026-11-23T14:30\` (UTC)`);
    }
    default:
      return wordValue(written, field);
  }
}

const lastPort = 65_535;

function numbers({ text, from, to }: WrittenValue, field: QueryField, isEquality: boolean): QueryValue {
  const isPort = field.kind === 'port';
  const pattern = isPort
    ? /^(\d{1,5})(?:-(\d{1,5}))?$/
    : /^(\d{1,9}(?:\.\d{1,6})?)(?:-(\d{1,9}(?:\.\d{1,6})?))?$/;
  const match = pattern.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  const isValid = match !== null && first <= last && !(isPort && last > lastPort);
  if (!isValid)
    throw new QueryProblem(
      `${excerptOf(text)} is not a ${isPort ? 'port (0 to 65535)' : 'number'} or range such as ${isPort ? '`8000-8100`' : '`7-8.9`'}`,
      from,
      to,
    );
  if (!isEquality && match[2] !== undefined)
    throw new QueryProblem('a comparison takes one number', from, to);
  return { kind: 'numbers', first, last };
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
]);

function booleanValue({ text, from, to }: WrittenValue, field: QueryField): QueryValue {
  const value = booleans.get(text.toLowerCase());
  if (value === undefined)
    throw new QueryProblem(
      `\`${field.name}\` is \`true\`, \`false\` or \`none\`, not ${excerptOf(text)}`,
      from,
      to,
    );
  return { kind: 'boolean', value };
}

/** Other spellings of words. */
const synonyms: ReadonlyMap<string, string> = new Map([['finding', 'vulnerability']]);

function wordValue({ text, from, to }: WrittenValue, { name, values }: QueryField): QueryValue {
  const folded = text.toLowerCase();
  const word = values.includes(folded) || name !== 'type' ? folded : (synonyms.get(folded) ?? folded);
  if (values.includes(word)) return { kind: 'word', word };
  const guess = nearest(word, values);
  const hint = guess === null ? `one of ${values.join(', ')}` : `did you mean \`${guess}\`?`;
  throw new QueryProblem(`${excerptOf(text)} is not a ${name}; ${hint}`, from, to);
}

// --- addresses ------------------------------------------------------------------------------------------------

function addressValue({ text, from, to }: WrittenValue, isEquality: boolean): QueryValue {
  const address = parseAddress(text);
  if (address !== null) return singleAddress(address, isEquality);
  if (!isEquality) throw new QueryProblem(`${excerptOf(text)} is not an address`, from, to);
  const range = text.includes('/') ? networkRange(text) : addressRange(text);
  if (range !== null) return range;
  // No host name has only digits and dots, or a slash.
  if (/^[\d.]+$|\//.test(text))
    throw new QueryProblem(`${excerptOf(text)} is not an address, CIDR block, range or name`, from, to);
  return { kind: 'text', text, match: 'whole' };
}

/** An address with a zone is compared as text, one without matches in every zone. */
function singleAddress(address: Address, isEquality: boolean): QueryValue {
  const text = formatAddress(address);
  if (address.zone !== null && isEquality) return { kind: 'text', text, match: 'whole' };
  const key = addressKeyOf(address);
  return { kind: 'addresses', text, first: key, last: key };
}

function networkRange(text: string): QueryValue | null {
  const network = parseNetwork(text);
  if (network === null || network.zone !== null) return null;
  const { family, first, last, prefix } = network;
  return {
    kind: 'addresses',
    text: `${formatAddress({ family, value: first, zone: null })}/${prefix}`,
    first: addressKeyOf({ family, value: first }),
    last: addressKeyOf({ family, value: last }),
  };
}

/** `10.0.0.5-10.0.1.9`, `10.0.0.5-20`. @returns null for everything else, such as the name `web-1` */
function addressRange(text: string): QueryValue | null {
  const dash = text.indexOf('-');
  const first = parseAddress(text.slice(0, Math.max(0, dash)));
  if (first === null || first.zone !== null) return null;
  const end = text.slice(dash + 1);
  const last = /^\d{1,3}$/.test(end) ? withLastOctet(first, Number(end)) : parseAddress(end);
  if (last === null || last.zone !== null || last.family !== first.family || last.value < first.value)
    return null;
  return {
    kind: 'addresses',
    text: `${formatAddress(first)}-${formatAddress(last)}`,
    first: addressKeyOf(first),
    last: addressKeyOf(last),
  };
}

function withLastOctet(address: Address, octet: number): Address | null {
  if (address.family === 6 || octet > 255) return null;
  return { ...address, value: (address.value & ~0xffn) | BigInt(octet) };
}

// --- times ----------------------------------------------------------------------------------------------------

const timePattern = /^([12]\d{3}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d)?Z?)?$/i;
const dayMs = 86_400_000;
const minuteMs = 60_000;
const secondMs = 1000;

function timeValue(text: string): QueryValue | null {
  const match = timePattern.exec(text);
  if (match === null) return null;
  const [, day = '', minute, second] = match;
  const iso = `${day}T${minute ?? '00:00'}${second ?? ':00'}.000Z`;
  const start = Date.parse(iso);
  // Date.parse turns some days that do not exist into others.
  if (Number.isNaN(start) || new Date(start).toISOString() !== iso) return null;
  const length = minute === undefined ? dayMs : second === undefined ? minuteMs : secondMs;
  return { kind: 'time', text, from: iso, to: new Date(start + length).toISOString() };
}
