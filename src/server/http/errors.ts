import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { errorCatalogue, invalidRequest, PortolanError } from '../../domain/errors.ts';
import { maxBodyBytes } from './json-body.ts';
import { fieldProblems } from './validation.ts';

/** Seconds after which a client that was turned away may come again. */
const retryAfter: Partial<Record<string, string>> = { queue_full: '10', unavailable: '5' };

/** Answers with the error shape; a fault of the service is logged and shows nothing of its cause. */
export function sendError(cause: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = asPortolanError(cause);
  // A refusal has no cause: it is an answer, not a fault.
  if (error.status >= 500 && error.cause !== undefined) {
    request.log.error({ err: error.cause, method: request.method }, error.message);
  }
  const { challenge, ...details } = error.details;
  if (error.code === 'unauthorized') reply.header('www-authenticate', String(challenge ?? 'Bearer'));
  const wait = retryAfter[error.code];
  if (wait !== undefined) reply.header('retry-after', wait);
  const shape = errorShape(error, { ...details, request_id: request.id });
  const problem = wantsProblem(request.headers);
  return reply
    .code(error.status)
    .type(problem ? 'application/problem+json' : 'application/json; charset=utf-8')
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(problem ? { ...problemMembers(error), ...shape } : shape);
}

export function errorShape(error: PortolanError, details: Record<string, unknown>) {
  return { error: { code: error.code, message: error.message, details } };
}

/** RFC 9457 members beside our own shape. */
function problemMembers(error: PortolanError) {
  const { status, meaning } = errorCatalogue[error.code];
  return { type: 'about:blank', title: meaning, status, detail: error.message };
}

function wantsProblem(headers: IncomingHttpHeaders): boolean {
  return headers.accept?.includes('application/problem+json') ?? false;
}

function asPortolanError(cause: unknown): PortolanError {
  if (cause instanceof PortolanError) return cause.status === 500 ? internal(cause) : cause;
  const error = cause as FastifyError & {
    validation?: FastifySchemaValidationError[];
    validationContext?: string;
  };
  if (error.validation) return validationError(error.validation, error.validationContext ?? 'body');
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new PortolanError('payload_too_large', `The request body is above ${maxBodyBytes} bytes.`);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new PortolanError('unsupported_media_type', 'The request body must be application/json.');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new PortolanError('not_found', 'There is no such path.');
    case 'FST_ERR_HANDLER_TIMEOUT':
      return new PortolanError('timeout', 'The answer took longer than 30 s.', {}, error);
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
  return new PortolanError('internal_error', 'The service failed; its log has the cause.', {}, cause);
}
