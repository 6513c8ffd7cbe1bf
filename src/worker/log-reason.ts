import { PortolanError } from '../domain/errors.ts';

/** Log fields of a failure: only the reason for an expected one, the stack for a bug. */
export function logReason(error: unknown): { reason: string } | { err: unknown } {
  return error instanceof PortolanError ? { reason: error.message } : { err: error };
}
