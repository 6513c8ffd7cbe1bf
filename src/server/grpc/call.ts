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
  /** Null for a method that does not exist. */
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
  /** Its first message was read. */
  reached: boolean;
  token: TokenRecord | null;
  /** Store and workspace as the tenant of the call has them; open methods have none. */
  space: TenantContext | null;
  /** A submission in the fields of the REST API, for the audit log. */
  body: unknown;
  resource: { type: string; id: string | null } | null;
  /** Why it was refused. */
  refusal: PortolanError | null;
  /** Writes the record of the audit log, once. */
  record(): Promise<void>;
}

/** A call that was admitted. */
export type AdmittedCall = Call & { space: TenantContext };

export const callKey = createContextKey<Call | null>(null);

/** The message of a call has come, whoever calls. */
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
 * A method with one answer. What is thrown becomes a status; the record of a change is written before its answer
 * leaves.
 *
 * @param isSubmission a conflict means that its key stands for another request
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

/** A method with a stream of responses, produced as fast as the client reads them. */
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
  // What the protocol throws here comes from a further message of a client that sends many.
  call.refusal = rejectionOf(cause, true);
  if (call.rule?.changes) await call.record();
  return connectError(call.refusal, isSubmission);
}
