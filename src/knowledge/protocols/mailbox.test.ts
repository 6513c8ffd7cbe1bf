import { expect, test } from 'vitest';
import { parseMailbox } from './mailbox.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

test('an IMAP server reports its name and version', () => {
  const response = '* OK ready\r\n* CAPABILITY IMAP4rev1 ID\r\na1 OK\r\n';
  const id = '* ID ("name" "Cyrus IMAPD" "version" "3.0.8" "os" NIL "x" "a\\"b")\r\na1 OK\r\n';
  expect(parseMailbox(latin1(response + id), 'imap')?.id).toBe('name: Cyrus IMAPD\nversion: 3.0.8\nx: a\\"b');
  expect(parseMailbox(latin1(`${response}* ID NIL\r\na1 OK\r\n`), 'imap')?.id).toBeUndefined();
  expect(parseMailbox(latin1(`${response}* ID (${'"a" '.repeat(2000)})\r\n`), 'imap')?.id).toBeUndefined();
});
