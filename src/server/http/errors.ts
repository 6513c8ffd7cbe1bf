import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { errorCatalog, invalidRequest, PortolanError } from '../../domain/errors.ts';
import { maxBodyBytes } from './request/json-body.ts';
import { fieldProblems } from './request/validation.ts';

/** Seconds after which a rejected client may retry. */
export const retryAfter: Partial<Record<string, string>> = { queue_full: '10', unavailable: '5' };

/** How long a client that sends too much may read the response, milliseconds; its data is dropped. */
const lingerMs = 2000;

/** For a request that waited for an index. */
const indexRetrySeconds = '2';

function secondsToRetry({ code, details }: PortolanError): string | undefined {
  return retryAfter[code] ?? (details['index_share'] === undefined ? undefined : indexRetrySeconds);
}

/** Responds with the error object; an internal error is logged and does not reveal its cause. */
export function sendError(cause: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = asPortolanError(cause);
  request.refusal = error;
  // A rejection has no cause: it is a response, not a failure.
  if (error.status >= 500 && error.cause !== undefined) {
    const fault = { request_id: request.id, err: error.cause, method: request.method };
    request.log[faultLevel(error)](fault, error.message);
  }
  const { challenge, ...details } = error.details;
  if (error.code === 'unauthorized') reply.header('www-authenticate', String(challenge ?? 'Bearer'));
  const wait = secondsToRetry(error);
  if (wait !== undefined) reply.header('retry-after', wait);
  const shape = errorShape(error, { ...details, request_id: request.id });
  const problem = wantsProblem(request.headers);
  const body = JSON.stringify(problem ? { ...problemMembers(error), ...shape } : shape);
  reply
    .code(error.status)
    .type(problem ? 'application/problem+json' : 'application/json; charset=utf-8')
    .serializer(String);
  if (error.code !== 'payload_too_large') return reply.send(body);
  reply.header('content-length', Buffer.byteLength(body));
  return reply.send(Readable.from(lingering(body, request), { objectMode: false }));
}

/** The store watch logs an outage once; requests do not repeat it. */
export function faultLevel({ code }: PortolanError): 'debug' | 'error' {
  return code === 'unavailable' ? 'debug' : 'error';
}

/**
 * Sends the body at once, but ends the response only when the client has sent everything or its time is over: closing a
 * connection with unread bytes resets it, and a client that still sends would lose the response.
 */
async function* lingering(text: string, { raw }: FastifyRequest): AsyncIterable<string> {
  yield text;
  const late = AbortSignal.timeout(lingerMs);
  await finished(raw.resume(), { signal: late }).catch(() => undefined);
}

export function errorShape(error: PortolanError, details: Record<string, unknown>) {
  return { error: { code: error.code, message: error.message, details } };
}

/** RFC 9457 members in addition to the error object. */
function problemMembers(error: PortolanError) {
  const { status, meaning } = errorCatalog[error.code];
  return { type: 'about:blank', title: meaning, status, detail: error.message };
}

function wantsProblem(headers: IncomingHttpHeaders): boolean {
  return headers.accept?.includes('application/problem+json') ?? false;
}

/** Maps anything thrown to an error response; internal errors do not reveal their cause. */
export function asPortolanError(cause: unknown): PortolanError {
  if (cause instanceof PortolanError) return cause.status === 500 ? internal(cause) : cause;
  const error = cause as FastifyError & {
    validation?: FastifySchemaValidationError[];
    validationContext?: string;
  };
  if (error.validation) return validationError(error.validation, error.validationContext ?? 'body');
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new PortolanError('payload_too_large', `The request body exceeds ${maxBodyBytes} bytes.`);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new PortolanError(
        'unsupported_media_type',
        'The request body must be JSON: send Content-Type: application/json.',
      );
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new PortolanError('not_found', 'Path not found.');
    default:
      return otherError(error);
  }
}

function otherError(error: FastifyError): PortolanError {
  const status = typeof error.statusCode === 'number' ? error.statusCode : 500;
  if (status < 400 || status > 499) return internal(error);
  return new PortolanError('invalid_request', 'The request is malformed.', { fields: [] }, error);
}

function validationError(errors: FastifySchemaValidationError[], part: string): PortolanError {
  const fields = fieldProblems(errors, part === 'querystring' ? 'query' : part);
  const message = fields.map(({ field, reason }) => `${field} ${reason}`).join('; ');
  return invalidRequest(message.slice(0, 500) || 'The request is malformed.', fields);
}

function internal(cause: unknown): PortolanError {
  return new PortolanError(
    'internal_error',
    'Internal error; see the log of the server for its cause.',
    {},
    cause,
  );
}
