export interface FieldProblem {
  field: string;
  reason: string;
}

/** A request that failed: the server's own code and words, or `unreachable` without a response. */
export class ApiError extends Error {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  readonly code: string;
  /** Problems of single fields of the request. */
  readonly fields: readonly FieldProblem[];
  /** To find the request in the server's log. */
  readonly requestId: string | null;
  /** Seconds; null when the server names none. */
  readonly retryAfter: number | null;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(facts: {
    status: number;
    code: string;
    message: string;
    details?: Record<string, unknown>;
    requestId?: string | null;
    retryAfter?: number | null;
  }) {
    super(facts.message);
    this.name = 'ApiError';
    this.status = facts.status;
    this.code = facts.code;
    this.details = facts.details ?? {};
    this.fields = fieldsOf(this.details);
    this.requestId = facts.requestId ?? null;
    this.retryAfter = facts.retryAfter ?? null;
  }

  /** The server's reason at a field of a form; null when it has none. */
  reasonOf(field: string): string | null {
    return this.fields.find((each) => each.field === field)?.reason ?? null;
  }
}

/** @param body of a response with an error status, parsed; null if it is not JSON */
export function errorOfResponse(response: Response, body: unknown): ApiError {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError({
    status: response.status,
    code: typeof error['code'] === 'string' ? error['code'] : 'bad_response',
    message:
      typeof error['message'] === 'string'
        ? error['message']
        : `The server responded with HTTP ${response.status} and no reason.`,
    details: isObject(error['details']) ? error['details'] : {},
    requestId: response.headers.get('x-request-id'),
    retryAfter: Number.isFinite(seconds) ? seconds : null,
  });
}

export function unreachable(): ApiError {
  return new ApiError({ status: 0, code: 'unreachable', message: 'The server cannot be reached.' });
}

function fieldsOf(details: Record<string, unknown>): FieldProblem[] {
  const { fields } = details;
  if (!Array.isArray(fields)) return [];
  return fields.filter(
    (each): each is FieldProblem =>
      isObject(each) && typeof each['field'] === 'string' && typeof each['reason'] === 'string',
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
