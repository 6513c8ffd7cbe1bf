import { invalidRequest } from '../../domain/errors.ts';

const form = /^[!-~]{1,255}$/;

/** @returns null for an empty text @throws PortolanError `invalid_request` */
export function readIdempotencyKey(text: string): string | null {
  if (text === '') return null;
  if (form.test(text)) return text;
  const reason = 'must be 1 to 255 visible ASCII characters';
  throw invalidRequest(`idempotency_key ${reason}`, [{ field: 'idempotency_key', reason }]);
}
