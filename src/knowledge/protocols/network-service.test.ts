import { describe, expect, it } from 'vitest';
import { fuzzRounds, fuzzTimeout } from '../../../test/rounds.ts';
import { parseNetworkService } from './network-service.ts';
import type { RecognizedService } from './recognized-service.ts';

/** Mutated responses. */
const rounds = fuzzRounds(2000);
const timeout = fuzzTimeout(rounds);

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** SQL Server 2019 that offers encryption. */
const prelogin = hex(
  '04 01 00 2b 00 00 01 00' +
    '00 001a 0006 01 0020 0001 02 0021 0001 03 0022 0000 04 0022 0001 ff 0f00 07d0 0000 01 00 00',
);

function tnsRefusal(): Buffer {
  const text = '(DESCRIPTION=(TMP=)(VSNNUM=186647040)(ERR=1189)(ERROR_STACK=(ERROR=(CODE=1189)(EMFI=4))))';
  const head = hex('0000 0000 04 00 0000 22 00 0051');
  head.writeUInt16BE(head.length + text.length, 0);
  return Buffer.concat([head, latin1(text)]);
}

/** One BER element shorter than 128 bytes. */
const element = (tag: number, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, body.length]), body]);
};
const attribute = (name: string, value: string) =>
  element(0x30, element(4, latin1(name)), element(0x31, element(4, latin1(value))));

const rootEntry = Buffer.concat([
  element(
    0x30,
    element(2, Buffer.from([1])),
    element(
      0x64,
      element(4),
      element(0x30, attribute('objectClass', 'OpenLDAProotDSE'), attribute('vendorVersion', '2.6')),
    ),
  ),
  element(0x30, element(2, Buffer.from([1])), element(0x65, hex('0a0100 0400 0400'))),
]);

const supported = Buffer.concat([
  hex('84 00 0000 06 00000016'),
  latin1('\0\x01\0\x0bCQL_VERSION\0\x01\0\x053.4.5'),
]);

/** Negotiate response and NTLM challenge of a Samba server in one stream. */
function smbSession(version: string): Buffer {
  const framed = (message: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(message.length);
    return Buffer.concat([length, message]);
  };
  const negotiated = Buffer.alloc(130);
  negotiated.write('\xfeSMB', 'latin1');
  negotiated.writeUInt16LE(65, 64);
  negotiated.writeUInt16LE(0x0302, 68);
  const names = Buffer.concat([hex('0100 0800'), Buffer.from('HOST', 'utf16le'), hex('0000 0000')]);
  const challenge = Buffer.alloc(56);
  challenge.write('NTLMSSP\0\x02', 'latin1');
  challenge.writeUInt16LE(names.length, 40);
  challenge.writeUInt32LE(56, 44);
  hex(version).copy(challenge, 48);
  const header = Buffer.alloc(64);
  header.write('\xfeSMB', 'latin1');
  return Buffer.concat([framed(negotiated), framed(Buffer.concat([header, challenge, names]))]);
}

const kerberosError = Buffer.concat([
  hex('00000018'),
  element(0x7e, element(0x30, element(0xa9, element(0x1b, latin1('EXAMPLE.ORG'))))),
]);

const responses: [probe: string, bytes: Buffer, expected: Pick<RecognizedService, 'service' | 'evidence'>][] =
  [
    [
      'mssql',
      prelogin,
      {
        service: 'mssql',
        evidence: [
          ['mssql.version', '15.0.2000'],
          ['mssql.encryption', 'on'],
        ],
      },
    ],
    [
      'oracle-tns',
      tnsRefusal(),
      {
        service: 'oracle-tns',
        evidence: [
          [
            'oracle.answer',
            '(DESCRIPTION=(TMP=)(VSNNUM=186647040)(ERR=1189)(ERROR_STACK=(ERROR=(CODE=1189)(EMFI=4))))',
          ],
          ['oracle.version', '11.2.0.2.0'],
        ],
      },
    ],
    [
      'ldap',
      rootEntry,
      { service: 'ldap', evidence: [['ldap.rootdse', 'objectClass: OpenLDAProotDSE\nvendorVersion: 2.6']] },
    ],
    [
      'cassandra',
      supported,
      {
        service: 'cassandra',
        evidence: [
          ['cassandra.options', 'CQL_VERSION 3.4.5'],
          ['cassandra.cql', '3.4.5'],
        ],
      },
    ],
    [
      'kafka',
      hex('0000000e 0000504f 0000 00000001 0012 0000 0003'),
      { service: 'kafka', evidence: [['kafka.calls', '1']] },
    ],
    ['kerberos', kerberosError, { service: 'kerberos', evidence: [['kerberos.realm', 'EXAMPLE.ORG']] }],
    [
      'msrpc',
      Buffer.concat([hex('05000c03100000003c000000'), Buffer.alloc(48)]),
      { service: 'msrpc', evidence: [['msrpc.answer', 'bind_ack']] },
    ],
    [
      'firebird',
      hex('00000003 0000800d 00000001 00000005'),
      { service: 'firebird', evidence: [['firebird.protocol', '13']] },
    ],
    [
      'gearman',
      latin1('OK 1.1.20+ds\n'),
      { service: 'gearman', evidence: [['gearman.version', 'OK 1.1.20+ds']] },
    ],
    [
      'smb-session',
      smbSession('06 01 0000'),
      {
        service: 'smb',
        evidence: [
          ['smb.dialect', '3.0.2'],
          ['ntlm.version', '6.1.0'],
          ['ntlm.names', 'computer: HOST'],
        ],
      },
    ],
    [
      'netbios-ssn',
      Buffer.concat([hex('82000000'), smbSession('0a 00 634f')]),
      {
        service: 'smb',
        evidence: [
          ['smb.dialect', '3.0.2'],
          ['ntlm.version', '10.0.20323'],
          ['ntlm.names', 'computer: HOST'],
        ],
      },
    ],
  ];

describe('parseNetworkService', () => {
  it.each(responses)('reads a response to %s', (probe, bytes, expected) => {
    expect(parseNetworkService(bytes, probe)).toMatchObject(expected);
  });

  it.each(['HTTP/1.1 200 OK\r\n\r\n', '220 ready\r\n', '', '\0', '0', '\x04\x01', '\0\0\0\0\0\0\0\0\0'])(
    'yields null for %j',
    (text) => {
      for (const [probe] of responses) expect(parseNetworkService(latin1(text), probe)).toBeNull();
    },
  );

  it(`${rounds} mutated responses cause no exception`, { timeout }, () => {
    let state = 0x5eed;
    const pick = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    for (let round = 0; round < rounds; round++) {
      const [probe, seed] = responses[pick(responses.length)] as (typeof responses)[number];
      const bytes = Buffer.from(seed.subarray(0, 1 + pick(seed.length)));
      for (let change = 0; change <= pick(6); change++) bytes[pick(bytes.length)] = pick(256);
      const record = parseNetworkService(bytes, probe);
      for (const [key, text] of record?.evidence ?? []) {
        expect(key).toMatch(/^[a-z]+\.[a-z]+$/);
        expect(text.length).toBeLessThanOrEqual(4096);
      }
    }
  });
});
