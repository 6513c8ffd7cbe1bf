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
/** It goes with a refusal too, and many clients take 8 KiB of headers together. */
const maxWarningBytes = 1024;

interface Checked {
  value?: unknown;
  error?: Error & { validation: FastifySchemaValidationError[] };
}

/**
 * Checks what a message says with the schema of the REST API.
 * @param part `body` or `query`: what problems are named after
 */
export class RequestBody<S extends TSchema> {
  readonly #schema: S;
  readonly #part: 'body' | 'query';
  readonly #check: (body: unknown) => Checked;

  constructor(schema: S, part: 'body' | 'query') {
    this.#schema = schema;
    this.#part = part;
    // Parameters of a query are numbers here already.
    const compiled = compileValidator({ schema, httpPart: 'body' } as never);
    this.#check = compiled as unknown as (body: unknown) => Checked;
  }

  /**
   * @param given in the fields of the REST API; what is undefined is absent
   * @throws PortolanError `invalid_request` with every problem
   */
  read(given: Record<string, unknown>, call: AdmittedCall): Static<S> {
    inspectBody(given);
    const body = asJson(given);
    call.body = body;
    const { error } = this.#check(body);
    if (error) throw asPortolanError(Object.assign(error, { validationContext: this.#context() }));
    const unknown = unknownFields(body, this.#schema);
    if (unknown.length > 0) call.headers[warningHeader] = warningsOf(unknown);
    return body as Static<S>;
  }

  #context(): string {
    return this.#part === 'query' ? 'querystring' : 'body';
  }
}

/** As many warnings as there is room for. */
function warningsOf(unknown: string[]): string {
  let text = '';
  for (const warning of unknown) {
    const more = `${text === '' ? '' : ', '}${encodeURIComponent(warning.toWellFormed())}`;
    if (text.length + more.length > maxWarningBytes) break;
    text += more;
  }
  return text;
}

/** Fields of a submission that `options` carries beside the members of the REST API's `options`. */
const extensions = new Set(['name', 'tags', 'ports', 'exclude', 'rate', 'dag', 'pool']);

/** The parts of `options` in the fields of the REST API. */
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

/** An empty text and an empty list are what was not given. */
export function given<T extends string | readonly unknown[]>(value: T): T | undefined {
  return value.length > 0 ? value : undefined;
}
