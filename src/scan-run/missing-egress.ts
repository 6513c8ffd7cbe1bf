import type { FieldProblem, PortolanError } from '../domain/errors.ts';

/** Whether a well-formed request was rejected by `checkEgress` (`egress-choice.ts`), here or on a server. */
export function isMissingEgress({ code, details }: PortolanError): boolean {
  const { fields } = details as { fields?: Partial<FieldProblem>[] };
  if (code !== 'invalid_request' || !Array.isArray(fields) || fields.length === 0) return false;
  return fields.every((each) => each?.field === 'options.interface' || each?.field === 'options.source_ip');
}
