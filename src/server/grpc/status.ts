import { create, fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { DurationSchema, type Struct, StructSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { type ErrorCode, errorCatalog, PortolanError } from '../../domain/errors.ts';
import { asPortolanError, retryAfter } from '../http/errors.ts';
import { asJson } from './messages.ts';

/** The trailer that carries the code of the error catalogue. */
export const errorCodeTrailer = 'service-error-code';

/** Maximum size of an encoded error message, bytes: many clients replace trailers above 8 KiB with their own error. */
const maxMessageBytes = 768;
/** Maximum size of error details before Base64, bytes. */
const maxDetailBytes = 3072;

/** HTTP status of the catalogue -> code of gRPC. */
const codes: Record<number, Code> = {
  400: Code.InvalidArgument,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  405: Code.Unimplemented,
  406: Code.InvalidArgument,
  409: Code.FailedPrecondition,
  413: Code.ResourceExhausted,
  414: Code.InvalidArgument,
  415: Code.InvalidArgument,
  429: Code.ResourceExhausted,
  431: Code.ResourceExhausted,
  500: Code.Internal,
  501: Code.Unimplemented,
  503: Code.Unavailable,
  504: Code.DeadlineExceeded,
  507: Code.ResourceExhausted,
};

/** Errors of the protocol library, such as an invalid message: gRPC code -> catalog code. */
const protocolErrors: Partial<Record<Code, ErrorCode>> = {
  [Code.InvalidArgument]: 'invalid_request',
  [Code.ResourceExhausted]: 'payload_too_large',
  [Code.Unimplemented]: 'not_implemented',
  [Code.DeadlineExceeded]: 'timeout',
  [Code.Unavailable]: 'unavailable',
  // Never received: the client is gone.
  [Code.Canceled]: 'timeout',
  [Code.Aborted]: 'timeout',
};

/**
 * @param isSubmission a conflict means that its key was used for another request
 * @param wait seconds until the client may retry; defaults to that of the code
 */
export function connectError(refusal: PortolanError, isSubmission = false, wait?: string): ConnectError {
  const { code, details, message } = refusal;
  const isRepetition = isSubmission && code === 'conflict';
  const status = isRepetition ? Code.AlreadyExists : (codes[refusal.status] ?? Code.Internal);
  const metadata: Record<string, string> = { [errorCodeTrailer]: code };
  const seconds = retryAfter[code] ?? wait;
  if (seconds !== undefined) metadata['retry-after'] = seconds;
  const error = new ConnectError(
    cutEncoded(message, maxMessageBytes),
    status,
    metadata,
    undefined,
    refusal.cause,
  );
  const { challenge: _challenge, ...shown } = details;
  const value = fittingDetails(asJson(shown) as JsonObject);
  if (value) error.details.push({ desc: StructSchema, value });
  if (seconds !== undefined) error.details.push(retryInfo(Number(seconds)));
  return error;
}

/** As many items of each list as fit; null if there are none. */
function fittingDetails(details: JsonObject): Struct | null {
  const entries = Object.entries(details);
  if (entries.length === 0) return null;
  let most = Math.max(1, ...entries.map(([, value]) => (Array.isArray(value) ? value.length : 0)));
  for (; most >= 1; most -= Math.ceil(most / 8)) {
    const shown = entries.map(([name, value]) => [name, Array.isArray(value) ? value.slice(0, most) : value]);
    const struct = fromJson(StructSchema, Object.fromEntries(shown) as JsonObject);
    if (toBinary(StructSchema, struct).length <= maxDetailBytes) return struct;
  }
  return null;
}

/** Truncates text; a split surrogate pair becomes U+FFFD. */
function cutEncoded(text: string, maxBytes: number): string {
  const whole = text.toWellFormed();
  let bytes = 0;
  let end = 0;
  for (const character of whole) {
    bytes += percentEncoded(character).length;
    if (bytes > maxBytes) return `${whole.slice(0, end)}...`;
    end += character.length;
  }
  return whole;
}

/** Percent-encodes a message as the protocol requires: visible ASCII and spaces stay, except the percent sign. */
function percentEncoded(text: string): string {
  return readable(encodeURIComponent(text));
}

/**
 * Trailers as sent. The library encodes more of a message than the protocol requires, and clients that follow the
 * protocol would show the rest encoded: `%2C`.
 */
export function sentTrailers(trailers: Headers): Record<string, string> {
  const sent = Object.fromEntries(trailers);
  const message = sent['grpc-message'];
  return message === undefined ? sent : { ...sent, 'grpc-message': readable(message) };
}

function readable(encoded: string): string {
  return encoded.replace(/%(?:2[0-46-9A-F]|[3-6][0-9A-F]|7[0-9A-E])/g, decodeURIComponent);
}

/** `google.rpc.RetryInfo` for clients that retry automatically; field 1 is the delay. */
function retryInfo(seconds: number): { type: string; value: Uint8Array } {
  const delay = toBinary(DurationSchema, create(DurationSchema, { seconds: BigInt(seconds) }));
  return { type: 'google.rpc.RetryInfo', value: Uint8Array.of(0x0a, delay.length, ...delay) };
}

/**
 * Maps anything thrown to a PortolanError.
 * @param isReading while reading a message: then even an internal error is one of the message
 */
export function rejectionOf(cause: unknown, isReading = false): PortolanError {
  if (!(cause instanceof ConnectError)) return asPortolanError(cause);
  const code = protocolErrors[cause.code] ?? (isReading ? 'invalid_request' : 'internal_error');
  if (code === 'internal_error') return asPortolanError(cause);
  return new PortolanError(code, wordsOf(cause, code), {});
}

/** The library's message only mentions bytes and fields; it is truncated, and hidden where it could reveal more. */
function wordsOf(cause: ConnectError, code: ErrorCode): string {
  if (code !== 'invalid_request' && code !== 'not_implemented') return errorCatalog[code].meaning;
  return `The request is malformed: ${cause.rawMessage.slice(0, 200)}`;
}
