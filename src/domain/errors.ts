/**
 * The one error catalogue: what can go wrong, which HTTP status the API answers with and which exit code the
 * command line ends with. `status: null` marks errors that never travel over HTTP.
 */
export const errorCatalog = {
  invalid_request: { status: 400, exit: 2, meaning: 'The request failed validation.' },
  unauthorized: {
    status: 401,
    exit: 5,
    meaning: 'The token is missing, malformed, unknown, expired or revoked.',
  },
  license_required: { status: 403, exit: 5, meaning: 'The feature needs a licence on this installation.' },
  insufficient_scope: { status: 403, exit: 5, meaning: 'The token is valid but lacks the scope.' },
  tenant_forbidden: { status: 403, exit: 5, meaning: "The tenant is unknown or not the token's." },
  forbidden_origin: {
    status: 403,
    exit: 5,
    meaning: 'The client address, origin or host name is not allowed.',
  },
  not_found: { status: 404, exit: 1, meaning: 'No such route or resource.' },
  method_not_allowed: { status: 405, exit: 1, meaning: 'The path exists, the method does not.' },
  not_acceptable: { status: 406, exit: 1, meaning: 'Accept names no format that exists.' },
  conflict: { status: 409, exit: 1, meaning: 'The state of the resource does not allow it.' },
  payload_too_large: { status: 413, exit: 1, meaning: 'The body is above its limit.' },
  uri_too_long: { status: 414, exit: 1, meaning: 'The URL is above its limit.' },
  unsupported_media_type: { status: 415, exit: 1, meaning: 'The body is not JSON.' },
  rate_limited: { status: 429, exit: 1, meaning: 'Too many requests; retry after the stated time.' },
  headers_too_large: { status: 431, exit: 1, meaning: 'The headers are above their limit.' },
  internal_error: { status: 500, exit: 1, meaning: 'A fault of the service; the log has the cause.' },
  not_implemented: { status: 501, exit: 1, meaning: 'Known, but absent from this build.' },
  queue_full: { status: 503, exit: 1, meaning: 'As many scans wait as queue.max_jobs allows.' },
  unavailable: {
    status: 503,
    exit: 1,
    meaning: 'The service is starting, draining, or its store is not reachable.',
  },
  timeout: { status: 504, exit: 6, meaning: 'It took longer than its limit.' },
  insufficient_storage: { status: 507, exit: 1, meaning: 'The disk of the workspace is full.' },
  usage: { status: null, exit: 2, meaning: 'The command line is wrong.' },
  configuration: { status: null, exit: 3, meaning: 'The configuration is wrong; nothing was started.' },
  network: { status: null, exit: 4, meaning: 'The server is not reachable.' },
  permission: { status: null, exit: 5, meaning: 'A needed right is missing.' },
  scan_failed: { status: null, exit: 7, meaning: 'The scan failed or is partial.' },
} as const satisfies Record<string, { status: number | null; exit: number; meaning: string }>;

export type ErrorCode = keyof typeof errorCatalog;

export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === 'string' && Object.hasOwn(errorCatalog, text);
}

/** One field of a request, file or option that is wrong, and why. */
export interface FieldProblem {
  field: string;
  reason: string;
}

/** An error that a person caused or can act on. Anything else that is thrown is a fault of the service. */
export class PortolanError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'PortolanError';
    this.code = code;
    this.details = details;
  }

  /** HTTP status; errors that never travel over HTTP count as a fault of the service. */
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
