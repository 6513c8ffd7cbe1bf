import { create, fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { DurationSchema, StructSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { type ErrorCode, errorCatalogue, PortolanError } from '../../domain/errors.ts';
import { asPortolanError, retryAfter } from '../http/errors.ts';
import { asJson } from './messages.ts';

/** The trailer that carries the code of the error catalogue. */
export const errorCodeTrailer = 'service-error-code';

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

/** What the protocol itself refuses, such as bytes that are no message: code of gRPC -> code of the catalogue. */
const protocolErrors: Partial<Record<Code, ErrorCode>> = {
  [Code.InvalidArgument]: 'invalid_request',
  [Code.ResourceExhausted]: 'payload_too_large',
  [Code.Unimplemented]: 'not_implemented',
  [Code.DeadlineExceeded]: 'timeout',
  [Code.Unavailable]: 'unavailable',
  // A client that went away hears nothing of it.
  [Code.Canceled]: 'timeout',
  [Code.Aborted]: 'timeout',
};

/**
 * @param isSubmission its only conflict is that of a key that stands for another request
 * @param wait seconds after which the client may come again, unless the code says it
 */
export function connectError(refusal: PortolanError, isSubmission = false, wait?: string): ConnectError {
  const { code, details, message } = refusal;
  const isRepetition = isSubmission && code === 'conflict';
  const status = isRepetition ? Code.AlreadyExists : (codes[refusal.status] ?? Code.Internal);
  const metadata: Record<string, string> = { [errorCodeTrailer]: code };
  const seconds = retryAfter[code] ?? wait;
  if (seconds !== undefined) metadata['retry-after'] = seconds;
  const error = new ConnectError(message, status, metadata, undefined, refusal.cause);
  const { challenge: _challenge, ...shown } = details;
  if (Object.keys(shown).length > 0) {
    error.details.push({ desc: StructSchema, value: fromJson(StructSchema, asJson(shown) as JsonObject) });
  }
  if (seconds !== undefined) error.details.push(retryInfo(Number(seconds)));
  return error;
}

/** What clients that try again by themselves read: `google.rpc.RetryInfo`, whose field 1 is the time to wait. */
function retryInfo(seconds: number): { type: string; value: Uint8Array } {
  const delay = toBinary(DurationSchema, create(DurationSchema, { seconds: BigInt(seconds) }));
  return { type: 'google.rpc.RetryInfo', value: Uint8Array.of(0x0a, delay.length, ...delay) };
}

/**
 * The refusal that something thrown amounts to.
 * @param isReading it came while a message was read, so that even a fault is one of the message
 */
export function refusalOf(cause: unknown, isReading = false): PortolanError {
  if (!(cause instanceof ConnectError)) return asPortolanError(cause);
  const code = protocolErrors[cause.code] ?? (isReading ? 'invalid_request' : 'internal_error');
  if (code === 'internal_error') return asPortolanError(cause);
  return new PortolanError(code, wordsOf(cause, code), {});
}

/** The message of the library is about bytes and fields only; it is cut and never shown where it could tell more. */
function wordsOf(cause: ConnectError, code: ErrorCode): string {
  if (code !== 'invalid_request') return errorCatalogue[code].meaning;
  return `The request is malformed: ${cause.rawMessage.slice(0, 200)}`;
}
