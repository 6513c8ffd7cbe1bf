import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { PortolanError } from '../../domain/errors.ts';
import type { TokenRecord } from '../../store/tokens.ts';
import type { RequestHead } from '../access/auth.ts';
import type { TenantContext } from '../access/tenants.ts';
import type { MethodRule } from './method-rules.ts';
import { connectError, rejectionOf } from './status.ts';

/** One call of a method, from its headers to the end of its response. */
export interface Call {
  readonly id: string;
  /** `/<service>/<method>` */
  readonly path: string;
  /** Null for an unknown method. */
  readonly rule: MethodRule | null;
  readonly head: RequestHead;
  /** Address of the client. */
  readonly client: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Aborted when the client no longer waits for the response. */
  readonly signal: AbortSignal;
  /** Response headers, in lower case. */
  readonly headers: Record<string, string>;
  /** `unknown field: x` per member of the message that the REST API does not know. */
  unknownFields: readonly string[];
  /** Whether the first message was read. */
  reached: boolean;
  token: TokenRecord | null;
  /** Tenant context of the call; null for open methods. */
  space: TenantContext | null;
  /** A submission with the field names of the REST API, for the audit log. */
  body: unknown;
  resource: { type: string; id: string | null } | null;
  /** The error of the response. */
  refusal: PortolanError | null;
  /** Writes the audit record, once. */
  record(): Promise<void>;
}

/** A call that passed admission. */
export type AdmittedCall = Call & { space: TenantContext };

export const callKey = createContextKey<Call | null>(null);

/** Marks the call as reached: its message was read. */
export function markReached({ values }: HandlerContext): Call | null {
  const call = values.get(callKey);
  if (call) call.reached = true;
  return call;
}

function callOf(context: HandlerContext): AdmittedCall {
  const call = markReached(context);
  if (!call?.space) throw new Error('the call was not admitted');
  return call as AdmittedCall;
}

/**
 * A unary method. Maps errors to a status; writes the audit record of a change before the response.
 *
 * @param isSubmission a conflict means that its key was used for another request
 */
export function unary<I, O>(
  work: (message: I, call: AdmittedCall) => Promise<O>,
  isSubmission = false,
): (message: I, context: HandlerContext) => Promise<O> {
  return async (message, context) => {
    const call = callOf(context);
    try {
      const response = await work(message, call);
      if (call.rule?.changes) await call.record();
      return response;
    } catch (cause) {
      throw await refused(call, cause, isSubmission);
    }
  };
}

/** A method with a stream of responses, with backpressure from the client. */
export function streaming<I, O>(
  work: (message: I, call: AdmittedCall) => AsyncIterable<O>,
): (message: I, context: HandlerContext) => AsyncIterable<O> {
  return async function* responses(message, context) {
    const call = callOf(context);
    try {
      yield* work(message, call);
    } catch (cause) {
      throw await refused(call, cause);
    }
  };
}

async function refused(call: Call, cause: unknown, isSubmission = false) {
  // A library error here concerns an additional message from the client.
  call.refusal = rejectionOf(cause, true);
  if (call.rule?.changes) await call.record();
  return connectError(call.refusal, isSubmission);
}
