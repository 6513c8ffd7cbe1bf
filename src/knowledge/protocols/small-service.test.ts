import { describe, expect, test } from 'vitest';
import { parseMailbox } from './mailbox.ts';
import { parseSmallService, readMumblePing } from './small-service.ts';
import { parseSmtp } from './smtp.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** The first message of a Mumble server: version, release, system. */
const mumble = Buffer.from(
  '00000000003208848604120' +
    '7312e332e342d341a035831312' +
    '21e44656269616e20474e552f4c696e75782031322028626f6f6b776f726d29',
  'hex',
);

/** An answer to DSIGetStatus with a machine, two versions and a name. */
function dsi(machine: string): Buffer {
  const text = (value: string) => [value.length, ...latin1(value)];
  const name = text('files');
  const machineAt = 10 + name.length;
  const machineText = text(machine);
  const versionsAt = machineAt + machineText.length;
  const body = Buffer.from([
    0,
    machineAt,
    0,
    versionsAt,
    0,
    0,
    0,
    0,
    0,
    0,
    ...name,
    ...machineText,
    2,
    ...text('AFP2.2'),
    ...text('AFP3.4'),
  ]);
  const header = Buffer.alloc(16);
  header.writeUInt16BE(0x0103, 0);
  header.writeUInt32BE(body.length, 8);
  return Buffer.concat([header, body]);
}

describe('small services', () => {
  test('Mumble tells its release and system', () => {
    expect(parseSmallService(mumble)).toEqual({
      service: 'mumble',
      evidence: [
        ['mumble.release', '1.3.4-4'],
        ['mumble.system', 'X11 Debian GNU/Linux 12 (bookworm)'],
      ],
      proof: 'Mumble 1.3.4-4',
    });
    expect(parseSmallService(mumble.subarray(0, 12))).toBeNull();
  });

  test('the ping of Mumble tells the version', () => {
    const answer = Buffer.alloc(24);
    answer.set([0, 1, 3, 4]);
    expect(readMumblePing(answer)?.evidence).toEqual([['mumble.release', '1.3.4']]);
    expect(readMumblePing(answer.subarray(1))).toBeNull();
  });

  test('an AFP server tells machine, versions and name', () => {
    expect(parseSmallService(dsi('Netatalk3.1.12'))?.evidence).toEqual([
      ['afp.machine', 'Netatalk3.1.12'],
      ['afp.versions', 'AFP2.2 AFP3.4'],
      ['afp.server', 'files'],
    ]);
    expect(parseSmallService(dsi(''))).toBeNull();
  });

  test('offsets of AFP beyond the end give nothing', () => {
    const answer = dsi('Netatalk3.1.12');
    answer.writeUInt16BE(0xffff, 18);
    expect(parseSmallService(answer)).toBeNull();
  });

  test.each([
    ['eeaccdf2', '2026-11-22T02:12:02Z'],
    ['eeaccdf200000000', '2026-11-22T02:12:02Z'],
  ])('the time of RFC 868: %s', (digits, time) => {
    expect(parseSmallService(Buffer.from(digits, 'hex'))).toMatchObject({
      service: 'time',
      proof: `time ${time}`,
    });
  });

  test.each(['fffd18ff', '00000001', 'eeaccdf2ff', 'eeaccdf200000001'])('%s is no time', (digits) => {
    expect(parseSmallService(Buffer.from(digits, 'hex'))).toBeNull();
  });

  test('T-015 hostile bytes are read to an end', () => {
    for (const seed of [mumble, dsi('Netatalk3.1.12')])
      for (let at = 0; at < seed.length; at++)
        for (const byte of [0, 0x7f, 0x80, 0xff]) {
          const bytes = Buffer.from(seed);
          bytes[at] = byte;
          expect(() => parseSmallService(bytes.subarray(0, seed.length - (at % 7)))).not.toThrow();
        }
  });
});

describe('mail', () => {
  test('a server that refuses EHLO and takes LHLO delivers into mailboxes', () => {
    const record = parseSmtp(
      latin1(
        '220 host Dovecot ready.\r\n500 5.5.1 Unknown command\r\n250-host\r\n250-8BITMIME\r\n250 PIPELINING\r\n',
      ),
    );
    expect(record).toMatchObject({ lmtp: true, facts: { extensions: ['8BITMIME', 'PIPELINING'] } });
    expect(parseSmtp(latin1('220 host ESMTP\r\n250-host\r\n250 DSN\r\n'))?.lmtp).toBeUndefined();
  });

  test('the answer to HELP is kept, also a refusal', () => {
    const greeted = '220 host ESMTP\r\n250-host\r\n250 DSN\r\n';
    expect(parseSmtp(latin1(`${greeted}214-2.0.0 This is sendmail\r\n214 2.0.0 End\r\n`))?.help).toBe(
      '2.0.0 This is sendmail\n2.0.0 End',
    );
    expect(parseSmtp(latin1(`${greeted}502 5.3.0 no\r\n`))?.help).toBe('5.3.0 no');
    expect(parseSmtp(latin1(greeted))?.help).toBeUndefined();
  });

  test('an IMAP server tells its name and version', () => {
    const answer = '* OK ready\r\n* CAPABILITY IMAP4rev1 ID\r\na1 OK\r\n';
    const id = '* ID ("name" "Cyrus IMAPD" "version" "3.0.8" "os" NIL "x" "a\\"b")\r\na1 OK\r\n';
    expect(parseMailbox(latin1(answer + id), 'imap')?.id).toBe('name: Cyrus IMAPD\nversion: 3.0.8\nx: a\\"b');
    expect(parseMailbox(latin1(`${answer}* ID NIL\r\na1 OK\r\n`), 'imap')?.id).toBeUndefined();
    expect(parseMailbox(latin1(`${answer}* ID (${'"a" '.repeat(2000)})\r\n`), 'imap')?.id).toBeUndefined();
  });
});
