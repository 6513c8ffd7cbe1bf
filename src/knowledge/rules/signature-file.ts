import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { type Document, isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { type FieldProblem, PortolanError } from '../../domain/errors.ts';
import type { Signature, SignatureExample } from '../signatures/signature.ts';
import { compileMatcher } from './matcher.ts';
import { patternSize } from './pattern-size.ts';
import { type RuleCatalog, readMatch, type SignatureMatch } from './rule-catalog.ts';
import { shapeProblem } from './yaml-shape.ts';

/** Maximum size of a catalog file, bytes. */
const maxFileBytes = 4 * 1024 * 1024;

/** Maximum number of signatures of one file or set. */
export const maxSignatures = 20_000;

/** Maximum length of a pattern, characters. */
const maxPatternLength = 4096;

/** Maximum instructions of a pattern: each costs time on every character of a response. */
const maxPatternSize = 4096;

/** Maximum number of problems in an error's message; the error's details list all. */
const maxNamed = 20;

/**
 * Reads and checks a catalog file.
 *
 * @throws PortolanError `configuration` with every problem and its line
 */
export async function readSignatureFile(file: string): Promise<Signature[]> {
  return parseSignatures(await readRules(file), file);
}

/**
 * A catalog that has the signatures of a file before its own.
 *
 * @throws PortolanError `configuration`
 */
export async function withRulesFile(catalogue: RuleCatalog, file: string): Promise<RuleCatalog> {
  const signatures = await readSignatureFile(file);
  const digest = createHash('sha256').update(JSON.stringify(signatures)).digest('hex');
  return catalogue.extendedBy({ version: `rules@${digest.slice(0, 8)}`, signatures });
}

async function readRules(file: string): Promise<string> {
  try {
    const found = await stat(file);
    // A device or a pipe would never end.
    if (!found.isFile()) throw rejection(file, [{ field: file, reason: 'is not a regular file' }]);
    if (found.size > maxFileBytes) throw tooLarge(file);
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (cause instanceof PortolanError) throw cause;
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new PortolanError(
      'configuration',
      `cannot read the fingerprint rules ${file}: ${reason}`,
      { file },
      cause,
    );
  }
}

function tooLarge(file: string): PortolanError {
  return rejection(file, [{ field: file, reason: `is larger than ${maxFileBytes} bytes` }]);
}

/** A signature and its position in errors: `file:line`. */
export interface PlacedSignature {
  signature: Signature;
  place: string;
}

/**
 * Checks the text of a catalog file; `file` is only named in errors.
 *
 * @throws PortolanError `configuration`
 */
export function parseSignatures(text: string, file: string): Signature[] {
  const placed = placeSignatures(text, file);
  const problems = placed.flatMap(triedProblems);
  if (problems.length > 0) throw rejection(file, problems);
  return placed.map(({ signature }) => signature);
}

/** Problems, with their position, found by running a well-formed signature on its examples. */
export function triedProblems({ signature, place }: PlacedSignature): FieldProblem[] {
  return trialProblems(signature).map(({ field, reason }) => ({
    field: place,
    reason: `${field} ${reason}`,
  }));
}

/**
 * Reads a catalog file and checks the form of its signatures, without running patterns and examples.
 *
 * @throws PortolanError `configuration` with every problem and its line
 */
export function placeSignatures(text: string, file: string): PlacedSignature[] {
  if (text.length > maxFileBytes) throw tooLarge(file);
  const shape = shapeProblem(text);
  if (shape) throw rejection(file, [{ field: `${file}:${shape.line}`, reason: shape.reason }]);
  const lines = new LineCounter();
  // With the excerpts of pretty errors a text with a hundred thousand errors takes minutes.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems: FieldProblem[] = document.errors.map((error) => ({
    field: `${file}:${lines.linePos(error.pos[0]).line}`,
    reason: error.message.split('\n')[0] ?? error.message,
  }));
  if (problems.length > 0) throw rejection(file, problems);

  const list = isMap(document.contents) ? document.contents.get('signatures', true) : document.contents;
  if (!isSeq(list)) throw rejection(file, [{ field: `${file}:1`, reason: 'must be a list of signatures' }]);
  if (list.items.length > maxSignatures) {
    throw rejection(file, [{ field: `${file}:1`, reason: `has more than ${maxSignatures} signatures` }]);
  }

  return placeRecords(
    file,
    (list.items as Node[]).map((item) => ({
      record: plainValue(item, document),
      place: `${file}:${item.range ? lines.linePos(item.range[0]).line : 1}`,
    })),
  );
}

/**
 * The same for JSON text, which is parsed in linear time whatever it contains. The position of a rule is its number.
 *
 * @throws PortolanError `configuration`
 */
export function placeJsonSignatures(text: string, file: string): PlacedSignature[] {
  if (text.length > maxFileBytes) throw tooLarge(file);
  const content = jsonOf(text);
  const list = (content as { signatures?: unknown } | null | undefined)?.signatures ?? content;
  if (!Array.isArray(list))
    throw rejection(file, [{ field: file, reason: 'must be JSON with a list of signatures' }]);
  if (list.length > maxSignatures) {
    throw rejection(file, [{ field: file, reason: `has more than ${maxSignatures} signatures` }]);
  }
  return placeRecords(
    file,
    list.map((record: unknown, index) => ({ record, place: `${file} rule ${index + 1}` })),
  );
}

/** Undefined for invalid JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Checks the form of records and that their ids are unique.
 *
 * @throws PortolanError `configuration`
 */
function placeRecords(
  file: string,
  records: readonly { record: unknown; place: string }[],
): PlacedSignature[] {
  const ids = new Set<string>();
  const signatures: PlacedSignature[] = [];
  const problems: FieldProblem[] = [];
  for (const { record, place } of records) {
    const found = formProblems(record);
    const id = (record as Partial<Signature> | null)?.id;
    if (typeof id === 'string' && ids.has(id)) found.push({ field: 'id', reason: `"${id}" is used twice` });
    if (typeof id === 'string') ids.add(id);
    for (const { field, reason } of found) problems.push({ field: place, reason: `${field} ${reason}` });
    if (found.length === 0) signatures.push({ signature: record as Signature, place });
  }
  if (problems.length > 0) throw rejection(file, problems);
  return signatures;
}

/** The value of a node with its aliases expanded; null when the expansion exceeds the limit. */
function plainValue(item: Node, document: Document): unknown {
  try {
    return item.toJS(document);
  } catch (error) {
    if (error instanceof ReferenceError) return null;
    throw error;
  }
}

/** The error for a rejected rule file. */
export function rejection(file: string, problems: FieldProblem[]): PortolanError {
  const shown = problems.slice(0, maxNamed).map((problem) => `${problem.field}: ${problem.reason}`);
  return new PortolanError('configuration', `fingerprint rules rejected: ${shown.join('; ')}`, {
    file,
    fields: problems,
  });
}

const knownFields = new Set([
  'id',
  'description',
  'category',
  'tags',
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
  'hardware',
  'facts',
  'examples',
]);

/** Every problem of a signature record, its examples included. */
export function signatureProblems(record: unknown): FieldProblem[] {
  const problems = formProblems(record);
  return problems.length > 0 ? problems : trialProblems(record as Signature);
}

/** Compiles the pattern of a well-formed signature and runs it on the examples. */
function trialProblems(signature: Signature): FieldProblem[] {
  const patternProblem = patternError(signature);
  if (patternProblem) return [{ field: 'pattern', reason: patternProblem }];
  return signature.examples.flatMap((example) => exampleProblems(signature, example));
}

/**
 * Problems in the form of a record; does not compile or run its pattern.
 *
 * @param fewestExamples 0 for imported rules: not all of them have examples
 */
export function formProblems(record: unknown, fewestExamples = 1): FieldProblem[] {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return [{ field: 'signature', reason: 'must be a map' }];
  }
  const fields = record as Record<string, unknown>;
  const problems: FieldProblem[] = [];
  const refuse = (field: string, reason: string) => problems.push({ field, reason });

  for (const name of Object.keys(fields)) if (!knownFields.has(name)) refuse(name, 'is an unknown field');
  if (typeof fields['id'] !== 'string' || !/^[a-z0-9][a-z0-9.-]{1,62}$/.test(fields['id'])) {
    refuse('id', 'must be 2 to 63 characters of a-z, 0-9, dot and hyphen');
  }
  for (const name of ['source', 'pattern']) {
    if (typeof fields[name] !== 'string' || fields[name] === '') refuse(name, 'must be text');
  }
  if (String(fields['pattern']).length > maxPatternLength) {
    refuse('pattern', `is longer than ${maxPatternLength} characters`);
  } else if (patternSize(String(fields['pattern'])) > maxPatternSize) {
    refuse('pattern', `has more than ${maxPatternSize} steps once its repetitions are written out`);
  }
  for (const name of ['service', 'product', 'vendor']) {
    if (fields[name] !== null && typeof fields[name] !== 'string') refuse(name, 'must be text or null');
  }
  for (const name of ['version', 'revision', 'flags', 'description']) {
    if (fields[name] !== undefined && typeof fields[name] !== 'string') refuse(name, 'must be text');
  }
  const { category, tags, certainty } = fields;
  if (category !== undefined && !isWord(category)) refuse('category', wordForm);
  if (tags !== undefined && !(Array.isArray(tags) && tags.every(isWord))) {
    refuse('tags', `must be a list; each ${wordForm}`);
  }
  if (typeof certainty !== 'number' || !(certainty > 0 && certainty <= 1)) {
    refuse('certainty', 'must be a number above 0 and at most 1');
  }
  return [
    ...problems,
    ...cpeProblems(fields['cpe']),
    ...textsProblems('os', fields['os'], ['family'], ['distribution', 'version']),
    ...textsProblems('hardware', fields['hardware'], [], ['type', 'vendor', 'product']),
    ...factProblems(fields['facts']),
    ...exampleListProblems(fields['examples'], fewestExamples),
  ];
}

const wordForm = 'must be 1 to 32 characters of a-z, 0-9 and hyphen';

function isWord(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,31}$/.test(value);
}

function cpeProblems(cpe: unknown): FieldProblem[] {
  if (cpe === undefined) return [];
  const part = (cpe as Record<string, unknown> | null)?.['part'];
  const valid =
    hasTexts(cpe, ['part', 'vendor', 'product'], ['version', 'update']) && 'aoh'.includes(String(part));
  return valid
    ? []
    : [{ field: 'cpe', reason: 'must be {part: a|o|h, vendor, product, version?, update?}, all text' }];
}

function textsProblems(field: string, value: unknown, needed: string[], optional: string[]): FieldProblem[] {
  if (value === undefined || hasTexts(value, needed, optional)) return [];
  const members = [...needed, ...optional.map((name) => `${name}?`)].join(', ');
  return [{ field, reason: `must be {${members}}, all text` }];
}

function hasTexts(value: unknown, needed: string[], optional: string[]): boolean {
  if (!isTextMap(value)) return false;
  const names = Object.keys(value);
  return (
    needed.every((name) => names.includes(name)) &&
    names.every((name) => needed.includes(name) || optional.includes(name))
  );
}

function isTextMap(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((member) => typeof member === 'string');
}

function factProblems(facts: unknown): FieldProblem[] {
  if (facts === undefined) return [];
  const valid = isTextMap(facts) && Object.keys(facts).every((name) => /^[A-Za-z0-9_.-]{1,64}$/.test(name));
  return valid ? [] : [{ field: 'facts', reason: 'must be a map of names and texts' }];
}

const exampleFields = ['text', 'product', 'version', 'revision', 'cpe', 'os', 'hardware', 'facts'];

function exampleListProblems(examples: unknown, fewest: number): FieldProblem[] {
  const valid = Array.isArray(examples) && examples.length >= fewest && examples.every(isExample);
  return valid
    ? []
    : [{ field: 'examples', reason: 'must be a list of at least one {text, ...expected values}' }];
}

function isExample(example: unknown): boolean {
  if (typeof example !== 'object' || example === null) return false;
  const { text, facts, ...values } = example as Record<string, unknown>;
  return (
    typeof text === 'string' &&
    Object.entries(values).every(
      ([name, value]) => exampleFields.includes(name) && (value === null || typeof value === 'string'),
    ) &&
    (facts === undefined || isTextMap(facts))
  );
}

function patternError(signature: Signature): string | null {
  try {
    compileMatcher(signature.pattern, signature.flags);
    return null;
  } catch (error) {
    return `does not compile: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Compares the values that a signature extracts from its example with the expected ones. */
function exampleProblems(signature: Signature, example: SignatureExample): FieldProblem[] {
  const match = compileMatcher(signature.pattern, signature.flags).match(example.text);
  const shown = JSON.stringify(example.text.slice(0, 60));
  if (!match) return [{ field: 'examples', reason: `${shown} does not match the pattern` }];
  return differences(example, readMatch(signature, match)).map(({ field, wanted, got }) => ({
    field: 'examples',
    reason: `${shown} gives ${field} ${got ?? 'null'}, not ${wanted ?? 'null'}`,
  }));
}

interface Difference {
  field: string;
  wanted: string | null;
  got: string | null;
}

function differences(example: SignatureExample, found: SignatureMatch): Difference[] {
  const { product, version, revision, cpe, os, hardware, facts = {} } = example;
  const compared: [field: string, wanted: string | null | undefined, got: string | null][] = [
    ['product', product, found.product],
    ['version', version, found.version],
    ['revision', revision, found.revision],
    ['cpe', cpe, found.cpe],
    ['os', os, found.os && joined([found.os.family, found.os.distribution, found.os.version])],
    [
      'hardware',
      hardware,
      found.hardware && joined([found.hardware.type, found.hardware.vendor, found.hardware.product]),
    ],
    ...Object.entries(facts).map(([name, wanted]): [string, string, string | null] => [
      `facts.${name}`,
      wanted,
      found.facts[name] ?? null,
    ]),
  ];
  return compared.flatMap(([field, wanted, got]) =>
    wanted === undefined || wanted === got ? [] : [{ field, wanted, got }],
  );
}

/** Several values in one text, as examples write it: `linux debian 12`. */
function joined(parts: (string | null)[]): string {
  return parts.filter((part) => part !== null).join(' ');
}
