import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { parseMediaService } from './media-service.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

function counted(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

const evidence = (bytes: Buffer, probe: string) => parseMediaService(bytes, probe)?.evidence;

describe('servers of media and games', () => {
  test('SHOUTcast names itself in a notice, without one by its status line', () => {
    const head =
      'ICY 200 OK\r\nicy-notice1:<BR>This stream requires Winamp<BR>\r\nicy-notice2:SHOUTcast Server/Linux v1.9.8<BR>\r\n';
    expect(evidence(latin1(head), 'http')).toEqual([
      ['shoutcast.notice', 'This stream requires Winamp\nSHOUTcast Server/Linux v1.9.8'],
    ]);
    expect(parseMediaService(latin1('ICY 401 Service Unavailable\r\n'), 'http')?.service).toBe('shoutcast');
    expect(parseMediaService(latin1('ICYX 200'), 'http')).toBeNull();
  });

  test('Snapcast names itself after its clients and replies to a time message', () => {
    const state = `{"id":"portolan","result":{"server":{"groups":[${'{"a":1},'.repeat(900)}],"server":{"snapserver":{"name":"Snapserver","version":"0.26.0"}}}}}\r\n`;
    expect(evidence(latin1(state), 'snapcast')).toEqual([
      ['snapcast.server', '"name":"Snapserver","version":"0.26.0"'],
    ]);
    const time = Buffer.concat([
      latin1('\x04\0POPO'),
      Buffer.alloc(16),
      latin1('\x08\0\0\0'),
      Buffer.alloc(8),
    ]);
    expect(parseMediaService(time, 'snapcast-stream')?.service).toBe('snapcast');
    expect(parseMediaService(time.subarray(0, 20), 'snapcast-stream')).toBeNull();
  });

  test('Freeciv names its version in a rejection, compressed or not', () => {
    const text = '\0\0Server version: 3.0.6 Client version: 0.0.0.\0';
    const packed = deflateSync(latin1(text));
    const size = Buffer.alloc(2);
    size.writeUInt16BE(16_384 + packed.length + 2);
    expect(evidence(Buffer.concat([size, packed]), 'freeciv')).toEqual([['freeciv.version', '3.0.6']]);
    expect(evidence(latin1(`\0\x40\x05${text}`), 'freeciv')).toEqual([['freeciv.version', '3.0.6']]);
    expect(evidence(Buffer.concat([size, Buffer.alloc(40, 0x78)]), 'freeciv')).toBeUndefined();
  });

  test('Wesnoth names the versions it accepts', () => {
    const accepted = counted(gzipSync(latin1('[version]\n[/version]\n')));
    const refused = counted(gzipSync(latin1('[reject]\naccepted_versions="1.16.*,1.16.9"\n[/reject]\n')));
    const bytes = Buffer.concat([Buffer.from([0, 0, 0, 42]), accepted, refused]);
    expect(evidence(bytes, 'wesnoth')).toEqual([['wesnoth.versions', '1.16.*,1.16.9']]);
    expect(parseMediaService(bytes.subarray(0, 4 + accepted.length), 'wesnoth')?.evidence).toEqual([]);
    expect(
      parseMediaService(Buffer.concat([Buffer.alloc(4), counted(latin1('[version]'))]), 'wesnoth'),
    ).toBeNull();
  });

  test('data that decompresses beyond the limit yields nothing', () => {
    const bomb = counted(gzipSync(Buffer.concat([latin1('[version]'), Buffer.alloc(4_000_000)])));
    expect(parseMediaService(Buffer.concat([Buffer.alloc(4), bomb]), 'wesnoth')).toBeNull();
    const packed = deflateSync(Buffer.alloc(4_000_000, 0xc3));
    expect(parseMediaService(Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), packed]), 'deluge')).toBeNull();
  });

  test('Deluge reports its version in rencode', () => {
    const packed = deflateSync(latin1('\xc3\x01\x01\x852.0.3'));
    expect(evidence(Buffer.concat([Buffer.from([1, 0, 0, 0, packed.length]), packed]), 'deluge')).toEqual([
      ['deluge.version', '2.0.3'],
    ]);
  });

  test('Quassel selects a protocol; RTMP replies with S0 and S1', () => {
    expect(evidence(Buffer.from([2, 0, 0, 2]), 'quassel')).toEqual([['quassel.protocol', 'data stream']]);
    expect(parseMediaService(Buffer.from([2, 0, 0, 9]), 'quassel')).toBeNull();
    expect(parseMediaService(latin1(`\x03${'\0'.repeat(1536)}`), 'rtmp')?.service).toBe('rtmp');
    expect(parseMediaService(latin1('\x03\0\0'), 'rtmp')).toBeNull();
  });
});
