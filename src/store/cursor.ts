import { invalidRequest } from '../domain/errors.ts';

/** A position in a list by age, not a row: it stays valid when the row is deleted. */
export interface CursorPosition {
  createdAt: string;
  id: string;
}

export function encodeCursor({ createdAt, id }: CursorPosition): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url');
}

/** @param idForm pattern of the ids in the list @throws PortolanError `invalid_request` */
export function decodeCursor(cursor: string, idForm: RegExp): CursorPosition {
  const [createdAt = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const wellFormed = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(createdAt) && idForm.test(id);
  // The decoder ignores characters that are not base64url: only text that encodes back to itself is a valid cursor.
  if (!wellFormed || encodeCursor({ createdAt, id }) !== cursor) {
    throw invalidRequest('The cursor is malformed.', [
      { field: 'cursor', reason: 'not a next_cursor of this list' },
    ]);
  }
  return { createdAt, id };
}
