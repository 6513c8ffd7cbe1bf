import { PortolanError } from '../../domain/errors.ts';

/** @param place where the log would be @param enabled `logging.audit.enabled` */
export function noAuditLog(place: string, enabled: boolean): PortolanError {
  const why = enabled ? '' : '; logging.audit.enabled is false';
  return new PortolanError('not_found', `no audit log at ${place}${why}`);
}
