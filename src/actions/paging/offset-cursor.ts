import { invalidRequest } from '../../domain/errors.ts';

/** A cursor of a list that does not change: an offset. @param list which list */
export function encodeOffset(list: string, offset: number): string {
  return Buffer.from(`${list} ${offset}`).toString('base64url');
}

/** @throws PortolanError `invalid_request` for what `encodeOffset` has not made for the list */
export function decodeOffset(list: string, cursor: string): number {
  const [name, digits = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const offset = Number(digits);
  if (name === list && /^\d{1,15}$/.test(digits) && encodeOffset(list, offset) === cursor) return offset;
  const reason = 'not a next_cursor of this list';
  throw invalidRequest(`cursor ${reason}`, [{ field: 'cursor', reason }]);
}
