import type { JsonObject } from '@bufbuild/protobuf';
import type { FastifySchemaValidationError } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { asPortolanError } from '../http/errors.ts';
import { inspectBody } from '../http/request/json-body.ts';
import { compileValidator, unknownFields } from '../http/request/validation.ts';
import type { AdmittedCall } from './call.ts';
import { asJson } from './messages.ts';

/** Response header that names an unknown field; one per field. */
const warningHeader = 'service-warning';
/** The header is sent with errors too, and many clients limit all headers to 8 KiB. */
const maxWarningBytes = 1024;

interface Checked {
  value?: unknown;
  error?: Error & { validation: FastifySchemaValidationError[] };
}

/**
 * Validates a message with the schema of the REST API.
 * @param part `body` or `query`: prefix of the reported problems
 */
export class RequestBody<S extends TSchema> {
  readonly #schema: S;
  readonly #part: 'body' | 'query';
  readonly #check: (body: unknown) => Checked;

  constructor(schema: S, part: 'body' | 'query') {
    this.#schema = schema;
    this.#part = part;
    // Query parameters are already numbers here.
    const compiled = compileValidator({ schema, httpPart: 'body' } as never);
    this.#check = compiled as unknown as (body: unknown) => Checked;
  }

  /**
   * @param given with the field names of the REST API; undefined means absent
   * @throws PortolanError `invalid_request` with every problem
   */
  read(given: Record<string, unknown>, call: AdmittedCall): Static<S> {
    inspectBody(given);
    const body = asJson(given);
    call.body = body;
    const { error } = this.#check(body);
    if (error) throw asPortolanError(Object.assign(error, { validationContext: this.#context() }));
    const unknown = unknownFields(body, this.#schema);
    call.unknownFields = unknown;
    if (unknown.length > 0) call.headers[warningHeader] = warningsOf(unknown);
    return body as Static<S>;
  }

  #context(): string {
    return this.#part === 'query' ? 'querystring' : 'body';
  }
}

/** As many warnings as fit. */
function warningsOf(unknown: string[]): string {
  let text = '';
  for (const warning of unknown) {
    const more = `${text === '' ? '' : ', '}${encodeURIComponent(warning.toWellFormed())}`;
    if (text.length + more.length > maxWarningBytes) break;
    text += more;
  }
  return text;
}

/** Fields of a submission that `options` may have in addition to those of the REST API. */
const extensions = new Set(['name', 'tags', 'ports', 'exclude', 'rate', 'dag', 'pool', 'priority']);

/** Splits `options` into the fields of the REST API. */
export function spreadOptions(options: JsonObject | undefined): Record<string, unknown> {
  if (options === undefined) return {};
  const entries = Object.entries(options);
  const own = entries.filter(([name]) => extensions.has(name));
  const inner = entries.filter(([name]) => !extensions.has(name));
  return {
    ...Object.fromEntries(own),
    ...(inner.length > 0 && { options: Object.fromEntries(inner) }),
  };
}

/** Empty text and empty lists count as absent. */
export function given<T extends string | readonly unknown[]>(value: T): T | undefined {
  return value.length > 0 ? value : undefined;
}
