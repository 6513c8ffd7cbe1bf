import { PortolanError } from '../domain/errors.ts';

/** What a line of the log tells about a failure: where nothing is wrong with the program, the reason is enough. */
export function logReason(error: unknown): { reason: string } | { err: unknown } {
  return error instanceof PortolanError ? { reason: error.message } : { err: error };
}
