import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifySchema, FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import type { FieldProblem } from '../../../domain/errors.ts';
import { nearest } from '../../../domain/text/nearest.ts';

type ObjectSchema = { properties?: Record<string, ObjectSchema & { type?: string }> };

/** Longest list with every invalid item reported; for longer ones only the first problem is. */
const maxReportedItems = 10_000;
/** Maximum number of unknown fields to list. */
const maxUnknown = 20;

/** `1e999` parses as Infinity, which `strictNumbers` rejects. */
const ajvOptions = { strict: false, strictNumbers: true, formats: { 'date-time': true } } as const;
const firstError = new Ajv2020(ajvOptions);
const everyError = new Ajv2020({ ...ajvOptions, allErrors: true });

/**
 * Validators of request parts. Bodies are not coerced: a quoted number is a string. Query parameters are strings, so
 * integers must be plain digits, and no parameter but a list may be repeated.
 */
export const compileValidator: FastifySchemaCompiler<FastifySchema> = ({ schema, httpPart }) => {
  // Compiled at the first request of a route, for a faster start.
  let quick: ValidateFunction | undefined;
  const check = (value: unknown) => {
    quick ??= firstError.compile(schema as object);
    if (quick(value)) return { value };
    if (hasLongList(value)) return { error: asError(quick.errors) };
    const thorough = everyError.compile(schema as object);
    thorough(value);
    return { error: asError(thorough.errors) };
  };
  if (httpPart !== 'querystring') return check as never;
  return ((query: Record<string, unknown>) => check(readQuery(query, schema as ObjectSchema))) as never;
};

/** Passes the problems to the error handler. */
function asError(
  errors: ErrorObject[] | null | undefined,
): Error & { validation: FastifySchemaValidationError[] } {
  return Object.assign(new Error('validation failed'), {
    validation: (errors ?? []) as FastifySchemaValidationError[],
  });
}

function hasLongList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((item) => Array.isArray(item) && item.length > maxReportedItems);
}

/**
 * Converts plain digits to a number where the schema has an integer, `true` and `false` where it has a boolean, and one
 * value to a list where it has a list; everything else then fails validation.
 */
function readQuery(query: Record<string, unknown>, schema: ObjectSchema): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(query)) {
    const { type } = schema.properties?.[name] ?? {};
    const number = type === 'integer' && typeof text === 'string' && /^\d+$/.test(text);
    if (type === 'array') read[name] = [text].flat();
    else if (type === 'boolean' && (text === 'true' || text === 'false')) read[name] = text === 'true';
    else read[name] = number ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text;
  }
  return read;
}

/** Problems in words, one entry per field. */
export function fieldProblems(errors: readonly FastifySchemaValidationError[], part: string): FieldProblem[] {
  const problems = new Map<string, string>();
  for (const error of errors) {
    const field = fieldName(error, part);
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf') continue;
    const earlier = problems.get(field);
    const reason = reasonOf(error);
    if (earlier === undefined) problems.set(field, reason);
    else if (!earlier.includes(reason)) problems.set(field, `${earlier} or ${reason}`);
  }
  return [...problems].slice(0, 100).map(([field, reason]) => ({ field, reason }));
}

function fieldName(error: FastifySchemaValidationError, part: string): string {
  const missing = error.keyword === 'required' ? `/${String(error.params['missingProperty'])}` : '';
  const path = `${error.instancePath}${missing}`.slice(1);
  if (path === '') return part;
  return path.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.');
}

function reasonOf(error: FastifySchemaValidationError): string {
  if (error.keyword === 'required') return 'is required';
  if (error.keyword === 'enum')
    return `must be one of ${(error.params['allowedValues'] as unknown[]).join(', ')}`;
  if (error.keyword === 'minLength' || error.keyword === 'minItems') return 'must not be empty';
  if (error.keyword === 'const') return `must be ${String(error.params['allowedValue'])}`;
  if (error.keyword === 'type') return `must be ${typeWords(error.params['type'])}`;
  return error.message ?? 'is invalid';
}

const wordsOfTypes: Record<string, string> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'text',
};

/** @param type name of a type, or a list of them */
function typeWords(type: unknown): string {
  return [type]
    .flat()
    .map((name) => wordsOfTypes[String(name)] ?? String(name))
    .join(' or ');
}

/** `unknown field: x; did you mean y?` for members of a body (parameters of a query) that are not in the schema. */
export function unknownFields(
  body: unknown,
  schema: unknown,
  what: 'field' | 'parameter' = 'field',
): string[] {
  const paths: string[] = [];
  findUnknown(body, schema as ObjectSchema, '', paths);
  return paths.map((path) => {
    const meant = knownField(path, schema as ObjectSchema);
    return `unknown ${what}: ${path.slice(0, 100)}${meant === null ? '' : `; did you mean ${meant}?`}`;
  });
}

/** The field of the same name elsewhere, else the nearest name beside it. */
function knownField(path: string, schema: ObjectSchema): string | null {
  const at = path.lastIndexOf('.');
  const [beside, name] = [path.slice(0, at + 1), path.slice(at + 1)];
  const known = pathsOf(schema, '');
  const same = known.filter((one) => one === name || one.endsWith(`.${name}`));
  if (same.length === 1 && same[0] !== undefined) return same[0];
  const names = known.filter((one) => one.startsWith(beside)).map((one) => one.slice(beside.length));
  const near = nearest(
    name,
    names.filter((one) => !one.includes('.')),
  );
  return near === null ? null : beside + near;
}

function pathsOf({ properties = {} }: ObjectSchema, prefix: string): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => [
    `${prefix}${name}`,
    ...pathsOf(schema, `${prefix}${name}.`),
  ]);
}

/** Adds to `paths` up to the limit. */
function findUnknown(body: unknown, { properties }: ObjectSchema, prefix: string, paths: string[]): void {
  if (!properties || typeof body !== 'object' || body === null || Array.isArray(body)) return;
  for (const name of Object.keys(body)) {
    if (paths.length >= maxUnknown) return;
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known) findUnknown((body as Record<string, unknown>)[name], known, `${prefix}${name}.`, paths);
    else paths.push(`${prefix}${name}`);
  }
}
