import { invalidRequest } from '../domain/errors.ts';

/** A place in a list by age, not a row: it stays good when what it names is deleted. */
export interface CursorPosition {
  createdAt: string;
  id: string;
}

export function encodeCursor({ createdAt, id }: CursorPosition): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url');
}

/** @param idForm what the ids of the list look like @throws PortolanError `invalid_request` */
export function decodeCursor(cursor: string, idForm: RegExp): CursorPosition {
  const [createdAt = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const wellFormed = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(createdAt) && idForm.test(id);
  // Decoding skips what is not base64url, so only what encodes to the same text is a cursor of ours.
  if (!wellFormed || encodeCursor({ createdAt, id }) !== cursor) {
    throw invalidRequest('The cursor is malformed.', [
      { field: 'cursor', reason: 'not a next_cursor of this list' },
    ]);
  }
  return { createdAt, id };
}
