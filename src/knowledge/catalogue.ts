import { readFile } from 'node:fs/promises';
import { isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { type FieldProblem, PortolanError } from '../domain/errors.ts';
import { type CpeName, formatCpe } from './cpe.ts';
import { compileMatcher, type Matcher, type PatternMatch } from './matcher.ts';
import { certificateSignatures } from './signatures/certificate.ts';
import { databaseSignatures } from './signatures/database.ts';
import { fileTransferSignatures } from './signatures/file-transfer.ts';
import { mailSignatures } from './signatures/mail.ts';
import { nameServerSignatures } from './signatures/name-server.ts';
import { operatingSystemSignatures } from './signatures/operating-system.ts';
import { protocolSignatures } from './signatures/protocol.ts';
import { remoteAccessSignatures } from './signatures/remote-access.ts';
import type { Signature, SignatureExample } from './signatures/signature.ts';
import { webSignatures } from './signatures/web.ts';

/** What one signature read out of one piece of evidence. */
export interface SignatureMatch {
  rule: string;
  /** Service name; null when the text says nothing about the protocol. */
  service: string | null;
  product: string | null;
  vendor: string | null;
  version: string | null;
  cpe: string | null;
  revision: string | null;
  os: { family: string; distribution: string | null; version: string | null } | null;
  /** 0..1 */
  certainty: number;
  /** The text that matched. */
  text: string;
}

/** Characters kept of a version or revision. */
const valueLimit = 128;

/** Date of the builtin signatures; a scan's results name it. */
export const catalogueVersion = '2026-11-21';

/** Largest catalogue file that is read, in bytes. */
export const catalogueFileLimit = 4 * 1024 * 1024;

interface Compiled {
  signature: Signature;
  matcher: Matcher;
}

/** Signatures by the evidence they read. Patterns are compiled when their evidence is first seen. */
export class Catalogue {
  readonly signatures: readonly Signature[];
  readonly #bySource = new Map<string, Signature[]>();
  readonly #compiled = new Map<string, Compiled[]>();

  constructor(signatures: readonly Signature[]) {
    this.signatures = signatures;
    for (const signature of signatures) {
      const listed = this.#bySource.get(signature.source);
      if (listed) listed.push(signature);
      else this.#bySource.set(signature.source, [signature]);
    }
  }

  /** Every signature of the source that matches, most certain first. */
  match(source: string, text: string): SignatureMatch[] {
    const matches: SignatureMatch[] = [];
    for (const { signature, matcher } of this.#matchers(source)) {
      const found = matcher.match(text);
      if (found) matches.push(readMatch(signature, found));
    }
    return matches.sort((a, b) => b.certainty - a.certainty);
  }

  #matchers(source: string): Compiled[] {
    let compiled = this.#compiled.get(source);
    if (!compiled) {
      const signatures = this.#bySource.get(source) ?? [];
      compiled = signatures.map((signature) => ({
        signature,
        matcher: compileMatcher(signature.pattern, signature.flags),
      }));
      if (compiled.length > 0) this.#compiled.set(source, compiled);
    }
    return compiled;
  }
}

const builtinSignatures: readonly Signature[] = [
  ...remoteAccessSignatures,
  ...webSignatures,
  ...mailSignatures,
  ...fileTransferSignatures,
  ...databaseSignatures,
  ...nameServerSignatures,
  ...certificateSignatures,
  ...protocolSignatures,
  ...operatingSystemSignatures,
];

/** The signatures that come with the program. */
export const builtinCatalogue = new Catalogue(builtinSignatures);

/**
 * The builtin catalogue, and before it the signatures of a YAML file in the same format (see `Signature`).
 * @throws PortolanError `configuration` naming every problem with its line
 */
export async function loadCatalogue(rulesFile: string): Promise<Catalogue> {
  if (rulesFile === '') return builtinCatalogue;
  return new Catalogue([...(await readSignatureFile(rulesFile)), ...builtinSignatures]);
}

function readMatch(signature: Signature, { text, groups }: PatternMatch): SignatureMatch {
  const fill = (template: string | undefined): string | null => fillTemplate(template, groups);
  const { os } = signature;
  return {
    rule: signature.id,
    service: signature.service,
    product: signature.product,
    vendor: signature.vendor,
    version: fill(signature.version),
    cpe: signature.cpe ? formatCpe(fillCpe(signature.cpe, fill)) : null,
    revision: fill(signature.revision),
    os: os ? { family: os.family, distribution: fill(os.distribution), version: fill(os.version) } : null,
    certainty: signature.certainty,
    text,
  };
}

function fillCpe(cpe: CpeName, fill: (template: string | undefined) => string | null): CpeName {
  return { ...cpe, version: fill(cpe.version ?? undefined), update: fill(cpe.update ?? undefined) };
}

/** Puts named groups into `{name}` places; null when nothing at all is left. */
function fillTemplate(template: string | undefined, groups: Map<string, string>): string | null {
  if (!template) return null;
  const text = template
    .replace(/\{([a-z_]+)\}/g, (_, name: string) => groups.get(name) ?? '')
    .trim()
    .slice(0, valueLimit);
  return text === '' ? null : text;
}

/** Reads and checks a catalogue file. @throws PortolanError `configuration` naming every problem with its line */
export async function readSignatureFile(file: string): Promise<Signature[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new PortolanError(
      'configuration',
      `the fingerprint rules ${file} cannot be read: ${reason}`,
      { file },
      cause,
    );
  }
  return parseSignatures(text, file);
}

/** Checks the text of a catalogue file; `file` is only named in errors. @throws PortolanError `configuration` */
export function parseSignatures(text: string, file: string): Signature[] {
  if (text.length > catalogueFileLimit) {
    throw refusal(file, [{ field: file, reason: `is larger than ${catalogueFileLimit} bytes` }]);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problems: FieldProblem[] = document.errors.map((error) => ({
    field: `${file}:${lines.linePos(error.pos[0]).line}`,
    reason: error.message.split('\n')[0] ?? error.message,
  }));
  if (problems.length > 0) throw refusal(file, problems);

  const list = isMap(document.contents) ? document.contents.get('signatures', true) : document.contents;
  if (!isSeq(list)) throw refusal(file, [{ field: `${file}:1`, reason: 'must hold a list of signatures' }]);

  const ids = new Set<string>();
  const signatures: Signature[] = [];
  for (const item of list.items as Node[]) {
    const line = item.range ? lines.linePos(item.range[0]).line : 1;
    const record = item.toJS(document) as unknown;
    const found = signatureProblems(record);
    const id = (record as Partial<Signature> | null)?.id;
    if (typeof id === 'string' && ids.has(id)) found.push({ field: 'id', reason: `"${id}" is used twice` });
    if (typeof id === 'string') ids.add(id);
    for (const { field, reason } of found)
      problems.push({ field: `${file}:${line}`, reason: `${field} ${reason}` });
    if (found.length === 0) signatures.push(record as Signature);
  }
  if (problems.length > 0) throw refusal(file, problems);
  return signatures;
}

function refusal(file: string, problems: FieldProblem[]): PortolanError {
  const shown = problems.slice(0, 20).map((problem) => `${problem.field}: ${problem.reason}`);
  return new PortolanError('configuration', `the fingerprint rules are refused: ${shown.join('; ')}`, {
    file,
    fields: problems,
  });
}

const knownFields = new Set([
  'id',
  'service',
  'source',
  'pattern',
  'flags',
  'product',
  'vendor',
  'version',
  'revision',
  'cpe',
  'certainty',
  'os',
  'examples',
]);

/** Everything that is wrong with a signature record, its examples included. */
export function signatureProblems(record: unknown): FieldProblem[] {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return [{ field: 'signature', reason: 'must be a map' }];
  }
  const fields = record as Record<string, unknown>;
  const problems: FieldProblem[] = [];
  const refuse = (field: string, reason: string) => problems.push({ field, reason });

  for (const name of Object.keys(fields)) if (!knownFields.has(name)) refuse(name, 'is not a known field');
  if (typeof fields.id !== 'string' || !/^[a-z0-9][a-z0-9.-]{1,62}$/.test(fields.id)) {
    refuse('id', 'must be 2 to 63 characters of a-z, 0-9, dot and hyphen');
  }
  for (const name of ['source', 'pattern']) {
    if (typeof fields[name] !== 'string' || fields[name] === '') refuse(name, 'must be text');
  }
  for (const name of ['service', 'product', 'vendor']) {
    if (fields[name] !== null && typeof fields[name] !== 'string') refuse(name, 'must be text or null');
  }
  for (const name of ['version', 'revision', 'flags']) {
    if (fields[name] !== undefined && typeof fields[name] !== 'string') refuse(name, 'must be text');
  }
  if (typeof fields.certainty !== 'number' || !(fields.certainty > 0 && fields.certainty <= 1)) {
    refuse('certainty', 'must be a number above 0 and at most 1');
  }
  problems.push(
    ...cpeProblems(fields.cpe),
    ...osProblems(fields.os),
    ...exampleListProblems(fields.examples),
  );
  if (problems.length > 0) return problems;

  const signature = fields as unknown as Signature;
  const patternProblem = patternError(signature);
  if (patternProblem) return [{ field: 'pattern', reason: patternProblem }];
  return signature.examples.flatMap((example) => exampleProblems(signature, example));
}

function cpeProblems(cpe: unknown): FieldProblem[] {
  if (cpe === undefined) return [];
  const fields = cpe as Record<string, unknown> | null;
  const valid =
    typeof fields === 'object' &&
    fields !== null &&
    ['a', 'o', 'h'].includes(String(fields.part)) &&
    ['vendor', 'product'].every((name) => typeof fields[name] === 'string') &&
    ['version', 'update'].every((name) => fields[name] === undefined || typeof fields[name] === 'string');
  return valid
    ? []
    : [{ field: 'cpe', reason: 'must be {part: a|o|h, vendor, product, version?, update?}, all text' }];
}

function osProblems(os: unknown): FieldProblem[] {
  if (os === undefined) return [];
  const fields = os as Record<string, unknown> | null;
  const valid =
    typeof fields === 'object' &&
    fields !== null &&
    typeof fields.family === 'string' &&
    ['distribution', 'version'].every(
      (name) => fields[name] === undefined || typeof fields[name] === 'string',
    );
  return valid ? [] : [{ field: 'os', reason: 'must be {family, distribution?, version?}, all text' }];
}

function exampleListProblems(examples: unknown): FieldProblem[] {
  const valid =
    Array.isArray(examples) &&
    examples.length > 0 &&
    examples.every((example) => typeof (example as { text?: unknown } | null)?.text === 'string');
  return valid
    ? []
    : [{ field: 'examples', reason: 'must be a list of at least one {text, ...expected values}' }];
}

function patternError(signature: Signature): string | null {
  try {
    compileMatcher(signature.pattern, signature.flags);
    return null;
  } catch (error) {
    return `does not compile: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Compares what a signature reads from its own example with what the example expects. */
function exampleProblems(signature: Signature, example: SignatureExample): FieldProblem[] {
  const match = compileMatcher(signature.pattern, signature.flags).match(example.text);
  const shown = JSON.stringify(example.text.slice(0, 60));
  if (!match) return [{ field: 'examples', reason: `${shown} does not match the pattern` }];
  const found = readMatch(signature, match);
  const problems: FieldProblem[] = [];
  const expect = (field: string, wanted: string | null | undefined, got: string | null) => {
    if (wanted === undefined || wanted === got) return;
    problems.push({
      field: 'examples',
      reason: `${shown} gives ${field} ${got ?? 'null'}, not ${wanted ?? 'null'}`,
    });
  };
  expect('version', example.version, found.version);
  expect('revision', example.revision, found.revision);
  expect('cpe', example.cpe, found.cpe);
  expect('os', example.os, found.os && osText(found.os));
  return problems;
}

/** Family, distribution and version in one text, as examples write it: `linux debian 12`. */
function osText(os: { family: string; distribution: string | null; version: string | null }): string {
  return [os.family, os.distribution, os.version].filter((part) => part !== null).join(' ');
}
