import { PortolanError } from '../../../domain/errors.ts';

/** Maximum size of a request body, bytes. */
export const maxBodyBytes = 2 * 1024 * 1024;
/** Maximum nesting of a request body, levels. */
const maxDepth = 64;
const forbiddenKeys = new Set(['__proto__', 'constructor']);

/**
 * Parses a request body. Rejects input that could attack JSON.parse or its callers: invalid UTF-8, a byte order mark,
 * trailing text, deep nesting and keys that reach a prototype.
 * @throws PortolanError `invalid_request`
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const body = parse(decode(bytes));
  inspectBody(body);
  return body;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw badBody('is not UTF-8 text');
  }
}

function parse(text: string): unknown {
  if (text.startsWith('\ufeff')) throw badBody('must not start with a byte order mark');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badBody(`is not valid JSON: ${(error as Error).message.slice(0, 120)}`);
  }
}

/**
 * Iterates level by level: uses no stack and stops at the limit.
 * @throws PortolanError `invalid_request`
 */
export function inspectBody(body: unknown): void {
  let level = containersIn([body]);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) throw badBody(`is nested deeper than ${maxDepth} levels`);
    for (const container of level) checkKeys(container);
    level = containersIn(level.flatMap((container) => Object.values(container)));
  }
}

function checkKeys(container: object): void {
  if (Array.isArray(container)) return;
  for (const key of Object.keys(container)) {
    if (forbiddenKeys.has(key)) throw badBody(`must not contain the key ${key}`);
  }
}

function containersIn(values: unknown[]): object[] {
  return values.filter((value): value is object => typeof value === 'object' && value !== null);
}

function badBody(reason: string): PortolanError {
  return new PortolanError('invalid_request', `The request body ${reason}.`, {
    fields: [{ field: 'body', reason }],
  });
}
