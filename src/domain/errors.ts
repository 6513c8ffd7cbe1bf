/**
 * The error catalog: error codes with their HTTP status and exit code. `status: null` marks errors that never travel
 * over HTTP.
 */
export const errorCatalog = {
  invalid_request: { status: 400, exit: 2, meaning: 'The request failed validation.' },
  unauthorized: {
    status: 401,
    exit: 5,
    meaning: 'The token is missing, malformed, unknown, expired or revoked.',
  },
  license_required: { status: 403, exit: 5, meaning: 'The feature requires a license on this installation.' },
  insufficient_scope: { status: 403, exit: 5, meaning: 'The token is valid but lacks the required scope.' },
  tenant_forbidden: { status: 403, exit: 5, meaning: "The tenant is unknown or not the token's." },
  forbidden_origin: {
    status: 403,
    exit: 5,
    meaning: 'The client address, origin or host name is not allowed.',
  },
  not_found: { status: 404, exit: 1, meaning: 'No such route or resource.' },
  method_not_allowed: { status: 405, exit: 1, meaning: 'The path exists, but not with this method.' },
  not_acceptable: { status: 406, exit: 1, meaning: 'Accept lists no supported format.' },
  conflict: { status: 409, exit: 1, meaning: 'The state of the resource does not allow the operation.' },
  payload_too_large: { status: 413, exit: 1, meaning: 'The request body exceeds the limit.' },
  uri_too_long: { status: 414, exit: 1, meaning: 'The URL exceeds the limit.' },
  unsupported_media_type: { status: 415, exit: 1, meaning: 'The request body is not JSON.' },
  rate_limited: { status: 429, exit: 1, meaning: 'Too many requests; retry after the time in Retry-After.' },
  headers_too_large: { status: 431, exit: 1, meaning: 'The request headers exceed the limit.' },
  internal_error: { status: 500, exit: 1, meaning: 'Internal error; the server log has the cause.' },
  not_implemented: { status: 501, exit: 1, meaning: 'Known, but not included in this build.' },
  queue_full: { status: 503, exit: 1, meaning: 'The queue is full: queue.max_jobs scans are waiting.' },
  unavailable: {
    status: 503,
    exit: 1,
    meaning: 'The service is starting or draining, or cannot reach its store.',
  },
  timeout: { status: 504, exit: 6, meaning: 'The operation timed out.' },
  insufficient_storage: { status: 507, exit: 1, meaning: 'The disk of the workspace is full.' },
  usage: { status: null, exit: 2, meaning: 'The command line is invalid.' },
  configuration: { status: null, exit: 3, meaning: 'The configuration is invalid; nothing was started.' },
  network: { status: null, exit: 4, meaning: 'The server is not reachable.' },
  permission: { status: null, exit: 5, meaning: 'A required privilege is missing.' },
  scan_failed: { status: null, exit: 7, meaning: 'The scan failed or is partial.' },
} as const satisfies Record<string, { status: number | null; exit: number; meaning: string }>;

export type ErrorCode = keyof typeof errorCatalog;

export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === 'string' && Object.hasOwn(errorCatalog, text);
}

/** One invalid field of a request, file or option, and why. */
export interface FieldProblem {
  field: string;
  reason: string;
}

/** An error that a user caused or can fix. Anything else that is thrown is an internal error. */
export class PortolanError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'PortolanError';
    this.code = code;
    this.details = details;
  }

  /** HTTP status; errors that never travel over HTTP count as internal errors. */
  get status(): number {
    return errorCatalog[this.code].status ?? 500;
  }

  get exitCode(): number {
    return errorCatalog[this.code].exit;
  }
}

/** All problems of one request at once. */
export function invalidRequest(
  message: string,
  fields: FieldProblem[],
  details: Record<string, unknown> = {},
) {
  return new PortolanError('invalid_request', message, { fields, ...details });
}
