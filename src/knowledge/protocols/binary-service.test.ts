import { describe, expect, test } from 'vitest';
import {
  mongodbResponse,
  rpcResponse,
  smb1Response,
  smb2Response,
  snmpResponse,
  x11Admission,
} from '../../../test/fixed-responses.ts';
import { fuzzRounds, fuzzTimeout } from '../../../test/rounds.ts';
import { parseBinaryService, parseDatagramService } from './binary-service.ts';
import { parseNtp, parseSnmp } from './management.ts';
import { parseMongodb } from './mongodb.ts';
import { parseRdp, parseRfb, parseX11 } from './remote-screen.ts';
import { parseRpc } from './rpc.ts';
import { parseRsync } from './rsync.ts';
import { parseSmb } from './smb.ts';

/** Mutated responses per parser. */
const rounds = fuzzRounds(2000);
const timeout = fuzzTimeout(rounds);

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('VNC', () => {
  test('reads version and security types', () => {
    expect(parseRfb(latin1('RFB 003.008\n\x02\x01\x02'))).toEqual({ version: '3.8', securityTypes: [1, 2] });
    expect(parseRfb(latin1('RFB 003.003\n\0\0\0\x02'))).toEqual({ version: '3.3', securityTypes: [2] });
  });
  test('leaves the security types null when the server sent none', () => {
    expect(parseRfb(latin1('RFB 003.008\n'))).toEqual({ version: '3.8', securityTypes: null });
    expect(parseRfb(latin1('RFB 003.008\n\0\0\0\0\x04full'))?.securityTypes).toBeNull();
    expect(parseRfb(latin1('RFB 003.008\n\x09\x01'))?.securityTypes).toBeNull();
    expect(parseRfb(latin1('RFB x'))).toBeNull();
  });
});

describe('RDP', () => {
  const response = (type: number, value: number) =>
    Buffer.from([3, 0, 0, 19, 14, 0xd0, 0, 0, 0x12, 0x34, 0, type, 0, 8, 0, value, 0, 0, 0]);
  test('reports whether a client can connect without network level authentication', () => {
    expect(parseRdp(response(2, 1))?.security).toBe('tls');
    expect(parseRdp(response(2, 0))?.security).toBe('rdp');
    expect(parseRdp(response(3, 5))?.security).toBe('nla_required');
    expect(parseRdp(response(3, 2))?.security).toBe('rdp');
    expect(parseRdp(response(3, 99))?.security).toBe('unknown');
    expect(parseRdp(Buffer.from([3, 0, 0, 11, 6, 0xd0, 0, 0, 0x12, 0x34, 0]))?.security).toBe('rdp');
    expect(parseRdp(response(9, 1))).toBeNull();
    expect(parseRdp(response(2, 1).subarray(0, 15))).toBeNull();
  });
});

describe('X11', () => {
  test('reports whether a client without credentials gets in', () => {
    expect(parseX11(x11Admission('The X.Org Foundation'))).toEqual({
      admitted: true,
      version: '11.0',
      text: 'The X.Org Foundation',
      release: null,
    });
    const recent = x11Admission('The X.Org Foundation');
    recent.writeUInt32LE(12_101_007, 8);
    expect(parseX11(recent)?.release).toBe('21.1.7');
    recent.writeUInt32LE(12_013_000, 8);
    expect(parseX11(recent)?.release).toBe('1.20.13');
    const reason = 'No protocol specified\n\0\0';
    const refusal = Buffer.concat([Buffer.from([0, reason.length, 11, 0, 0, 0, 6, 0]), latin1(reason)]);
    expect(parseX11(refusal)).toEqual({
      admitted: false,
      version: '11.0',
      text: 'No protocol specified',
      release: null,
    });
  });
});

describe('SMB', () => {
  test('reads dialect and signing', () => {
    expect(parseSmb(smb2Response({ signing: 1, dialect: 0x0302 }))).toEqual({
      dialect: '3.0.2',
      signingRequired: false,
    });
    expect(parseSmb(smb2Response({ signing: 3, dialect: 0x0210 }))).toEqual({
      dialect: '2.1',
      signingRequired: true,
    });
    expect(parseSmb(smb1Response(0))).toEqual({ dialect: '1', signingRequired: false });
  });
  test('rejecting every dialect does not count as version 1', () => {
    expect(parseSmb(smb1Response(0xffff))).toBeNull();
  });
});

describe('RPC', () => {
  test('reads the registrations of a port mapper', () => {
    const list = rpcResponse(1, 100_003, 3, 6, 2049, 1, 100_005, 3, 17, 20_048, 0);
    expect(parseRpc(list, 'tcp')?.registrations).toEqual([
      { program: 100_003, version: 3, protocol: 'tcp', port: 2049 },
      { program: 100_005, version: 3, protocol: 'udp', port: 20_048 },
    ]);
  });
  test('a rejected call is not accepted', () => {
    const refused = rpcResponse();
    refused.writeUInt32BE(1, 4 + 20);
    expect(parseRpc(refused, 'tcp')).toEqual({ accepted: false, registrations: [] });
    const denied = rpcResponse();
    denied.writeUInt32BE(1, 4 + 8);
    expect(parseRpc(denied, 'tcp')?.accepted).toBe(false);
  });
});

describe('MongoDB', () => {
  const version = mongodbResponse({ version: '7.0.14', ok: 1 });
  test('reads the version and the databases', () => {
    const list = mongodbResponse({ databases: { 0: { name: 'admin' }, 1: { name: 'shop' } }, ok: 1 });
    expect(parseMongodb(Buffer.concat([version, list]))).toEqual({
      version: '7.0.14',
      databases: ['admin', 'shop'],
      refusal: null,
    });
  });
  test('a rejection yields no databases', () => {
    const refusal = mongodbResponse({ ok: 0, code: 13, codeName: 'Unauthorized' });
    expect(parseMongodb(Buffer.concat([version, refusal]))).toEqual({
      version: '7.0.14',
      databases: null,
      refusal: 'Unauthorized',
    });
  });
});

describe('rsync', () => {
  test('reads modules and skips the message of the day', () => {
    const listing =
      '@RSYNCD: 31.0 sha512 md5\nWelcome to us\nweb            \tpublic pages\nbackup\t\n@RSYNCD: EXIT\n';
    expect(parseRsync(latin1(listing))).toEqual({
      version: '31.0',
      modules: ['web: public pages', 'backup:'],
    });
    expect(parseRsync(latin1('@RSYNCD: 31.0\n'))).toEqual({ version: '31.0', modules: null });
  });
});

describe('SNMP and NTP', () => {
  test('reads the text of an agent and ignores error responses', () => {
    expect(parseSnmp(snmpResponse({ text: 'Linux gw 6.1' }))).toEqual({
      version: '2c',
      community: 'public',
      text: 'Linux gw 6.1',
      objectId: null,
      name: null,
    });
    expect(parseSnmp(snmpResponse({ error: 2 }))).toBeNull();
  });
  test('distinguishes the client list from the time and from a rejection', () => {
    expect(parseNtp(Buffer.concat([Buffer.from([0x1c, 2]), Buffer.alloc(46)]))?.kind).toBe('time');
    expect(parseNtp(hex('d7 00 03 2a 00 06 00 48'))).toEqual({
      kind: 'monitor',
      clients: 6,
      stratum: null,
      variables: null,
    });
    expect(parseNtp(hex('97 00 03 2a 40 00 00 00'))).toBeNull();
    expect(parseNtp(hex('17 00 03 2a 00 00 00 00'))).toBeNull();
  });
});

test('recognizes services by their responses', () => {
  expect(parseBinaryService(latin1('RFB 003.008\n\x01\x02'), 'vnc')?.service).toBe('vnc');
  expect(parseBinaryService(rpcResponse(), 'nfs')?.service).toBe('nfs');
  expect(parseBinaryService(rpcResponse(), 'generic')).toBeNull();
  expect(parseBinaryService(x11Admission('x'), 'generic')).toBeNull();
  expect(parseDatagramService(snmpResponse({ text: 'gw' }), 'snmp-v2c-public')?.proof).toBe('gw');
});

test(`${rounds} mutated responses per parser cause no exception`, { timeout }, () => {
  const seeds = [
    latin1('RFB 003.008\n\x02\x01\x02'),
    Buffer.from([3, 0, 0, 19, 14, 0xd0, 0, 0, 0x12, 0x34, 0, 2, 0, 8, 0, 1, 0, 0, 0]),
    x11Admission('The X.Org Foundation'),
    smb2Response({ signing: 1, dialect: 0x0302 }),
    smb1Response(0),
    rpcResponse(1, 100_003, 3, 6, 2049, 0),
    Buffer.concat([
      mongodbResponse({ version: '7', ok: 1 }),
      mongodbResponse({ databases: { 0: { name: 'a' } }, ok: 1 }),
    ]),
    latin1('@RSYNCD: 31.0\nweb\tpages\n@RSYNCD: EXIT\n'),
    snmpResponse({ text: 'Linux' }),
    hex('d7 00 03 2a 00 06 00 48'),
  ];
  let state = 1;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  for (const seed of seeds) {
    for (let round = 0; round < rounds; round++) {
      const bytes = Buffer.concat([seed, Buffer.alloc(random(40), random(256))]).subarray(
        0,
        1 + random(seed.length + 40),
      );
      for (let change = random(6); change > 0; change--) bytes[random(bytes.length)] = random(256);
      for (const probe of ['x11', 'nfs', 'rpcbind', 'generic']) parseBinaryService(bytes, probe);
      for (const probe of ['snmp-v1-public', 'ntp-monlist']) parseDatagramService(bytes, probe);
    }
  }
});
