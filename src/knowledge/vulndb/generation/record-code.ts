import type { Configuration, CpeMatch, CveRecord, CvssScore } from '../cve-record.ts';

/** A configuration in its stored form: arrays in place of objects, a third smaller and faster to read. */
export type PackedConfiguration = [operator: 0 | 1, negate: 0 | 1, nodes: PackedNode[]];
type PackedNode = [operator: 0 | 1, negate: 0 | 1, matches: PackedMatch[]];
type PackedMatch = [
  vulnerable: 0 | 1,
  cpe: string,
  startIncluding?: string | 0,
  startExcluding?: string | 0,
  endIncluding?: string | 0,
  endExcluding?: string | 0,
];
export type PackedScore = [version: string, score: number, vector: string];

type PackedRecord = [
  id: string,
  title: string | 0,
  description: string,
  published: string,
  modified: string,
  cvss: PackedScore[],
  cwe: string[],
  references: string[],
  configurations: PackedConfiguration[],
  rejected: 0 | 1,
  source: string,
];

/** One line of JSON. */
export function encodeRecord(record: CveRecord): string {
  const packed: PackedRecord = [
    record.id,
    record.title ?? 0,
    record.description,
    record.published,
    record.modified,
    packScores(record.cvss),
    record.cwe,
    record.references,
    packConfigurations(record.configurations),
    record.rejected ? 1 : 0,
    record.source,
  ];
  return JSON.stringify(packed);
}

/** @throws SyntaxError, TypeError when the text was not written by `encodeRecord` */
export function decodeRecord(text: string): CveRecord {
  const packed: unknown = JSON.parse(text);
  if (!Array.isArray(packed) || packed.length !== 11) throw new TypeError('a record must have 11 members');
  const [
    id,
    title,
    description,
    published,
    modified,
    cvss,
    cwe,
    references,
    configurations,
    rejected,
    source,
  ] = packed as PackedRecord;
  return {
    id: textOf(id),
    title: title === 0 ? null : textOf(title),
    description: textOf(description),
    published: textOf(published),
    modified: textOf(modified),
    cvss: unpackScores(cvss),
    cwe: textsOf(cwe),
    references: textsOf(references),
    configurations: unpackConfigurations(configurations),
    rejected: rejected === 1,
    source: textOf(source),
  };
}

export function packScores(scores: readonly CvssScore[]): PackedScore[] {
  return scores.map(({ version, score, vector }) => [version, score, vector]);
}

/** @throws TypeError */
export function unpackScores(packed: readonly PackedScore[]): CvssScore[] {
  return listOf(packed).map((entry) => {
    const [version, score, vector] = listOf(entry);
    if (typeof score !== 'number') throw new TypeError('a score must be a number');
    return { version: textOf(version), score, vector: textOf(vector) };
  });
}

export function packConfigurations(configurations: readonly Configuration[]): PackedConfiguration[] {
  return configurations.map(({ operator, negate, nodes }) => [
    operator === 'AND' ? 1 : 0,
    negate ? 1 : 0,
    nodes.map((node) => [node.operator === 'AND' ? 1 : 0, node.negate ? 1 : 0, node.matches.map(packMatch)]),
  ]);
}

function packMatch(match: CpeMatch): PackedMatch {
  const packed: PackedMatch = [
    match.vulnerable ? 1 : 0,
    match.cpe,
    match.startIncluding ?? 0,
    match.startExcluding ?? 0,
    match.endIncluding ?? 0,
    match.endExcluding ?? 0,
  ];
  while (packed.length > 2 && packed.at(-1) === 0) packed.pop();
  return packed;
}

/** @throws TypeError */
export function unpackConfigurations(packed: readonly PackedConfiguration[]): Configuration[] {
  return listOf(packed).map((configuration) => {
    const [operator, negate, nodes] = listOf(configuration);
    return {
      operator: operator === 1 ? 'AND' : 'OR',
      negate: negate === 1,
      nodes: (listOf(nodes) as PackedNode[]).map((node) => ({
        operator: node[0] === 1 ? 'AND' : 'OR',
        negate: node[1] === 1,
        matches: (listOf(node[2]) as PackedMatch[]).map(unpackMatch),
      })),
    };
  });
}

function unpackMatch(packed: PackedMatch): CpeMatch {
  return {
    vulnerable: packed[0] === 1,
    cpe: textOf(packed[1]),
    startIncluding: packed[2] ? textOf(packed[2]) : null,
    startExcluding: packed[3] ? textOf(packed[3]) : null,
    endIncluding: packed[4] ? textOf(packed[4]) : null,
    endExcluding: packed[5] ? textOf(packed[5]) : null,
  };
}

function listOf<T extends readonly unknown[]>(value: T): T {
  if (!Array.isArray(value)) throw new TypeError('expected a list');
  return value;
}

function textsOf(values: readonly string[]): string[] {
  return listOf(values).map(textOf);
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('expected text');
  return value;
}
