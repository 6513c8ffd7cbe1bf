import { describe, expect, it } from 'vitest';
import { clientHello, type HelloOffer } from './client-hello.ts';
import { curveIds, groupIdsOf13 } from './groups.ts';
import { suitesFor } from './suites.ts';
import { tlsVersions } from './versions.ts';

const offer: HelloOffer = {
  version: 'TLSv1.2',
  suites: [0xc02f, 0x002f],
  groups: [0x001d],
  keyShare: true,
  serverName: 'a.example',
  alpn: ['h2'],
  compression: true,
  extensions: true,
  random: Buffer.from(Array.from({ length: 64 }, (_, at) => at)),
};

/** Parses a hello strictly: every length must match. */
function read(record: Buffer) {
  expect(record.readUInt16BE(3)).toBe(record.length - 5);
  expect(record.readUIntBE(6, 3)).toBe(record.length - 9);
  const body = record.subarray(9);
  let at = 34;
  const take = (width: number) => {
    const length = body.readUIntBE(at, width);
    const content = body.subarray(at + width, at + width + length);
    expect(content).toHaveLength(length);
    at += width + length;
    return content;
  };
  const [session, suites, compression] = [take(1), take(2), take(1)];
  const extensions = new Map<number, Buffer>();
  if (at < body.length) {
    const end = at + 2 + body.readUInt16BE(at);
    expect(end).toBe(body.length);
    at += 2;
    while (at < end) {
      const type = body.readUInt16BE(at);
      expect(extensions.has(type)).toBe(false);
      at += 2;
      extensions.set(type, take(2));
    }
  }
  return {
    recordVersion: record.readUInt16BE(1),
    version: body.readUInt16BE(0),
    session,
    suites,
    compression,
    extensions,
  };
}

describe('ClientHello', () => {
  it('offers TLS 1.2 with everything in the offer', () => {
    const hello = read(clientHello(offer));
    expect(hello).toMatchObject({ recordVersion: 0x0301, version: 0x0303 });
    expect(hello.suites.toString('hex')).toBe('c02f002f');
    expect([...hello.compression]).toEqual([1, 0]);
    expect(hello.session).toHaveLength(0);
    expect(hello.extensions.get(0)?.toString('latin1')).toBe('\0\x0c\0\0\x09a.example');
    expect(hello.extensions.get(16)?.toString('latin1')).toBe('\0\x03\x02h2');
    expect([...hello.extensions.keys()]).toEqual(expect.arrayContaining([10, 11, 13, 23, 35, 0xff01]));
  });

  it('offers only TLS 1.3, with or without a key share', () => {
    const hello = read(clientHello({ ...offer, version: 'TLSv1.3' }));
    expect(hello).toMatchObject({ recordVersion: 0x0301, version: 0x0303 });
    expect(hello.extensions.get(43)?.toString('hex')).toBe('020304');
    expect(hello.extensions.get(51)?.toString('hex')).toMatch(/^0024001d0020[0-9a-f]{64}$/);
    expect([...hello.compression]).toEqual([0]);
    expect(hello.session).toHaveLength(32);
    expect(read(clientHello({ ...offer, version: 'TLSv1.3', keyShare: false })).extensions.get(51)).toEqual(
      Buffer.from([0, 0]),
    );
  });

  it.each([
    ['SSL 3.0', { version: 'SSLv3' }, 0x0300],
    ['TLS 1.0 for old servers', { version: 'TLSv1.0', extensions: false }, 0x0301],
  ] as const)('has no extensions in %s, but the repair of renegotiation', (_, change, version) => {
    const hello = read(clientHello({ ...offer, ...change }));
    expect(hello).toMatchObject({ recordVersion: version, version });
    expect(hello.extensions.size).toBe(0);
    expect(hello.suites.toString('hex')).toBe('c02f002f00ff');
  });

  it('has correct lengths and never a size that hangs some servers', () => {
    for (const version of tlsVersions) {
      const all = suitesFor(version).map(({ id }) => id);
      for (let count = 1; count <= 125; count++) {
        for (const groups of [curveIds, groupIdsOf13, [0x001d]]) {
          const record = clientHello({ ...offer, version, groups, suites: all.slice(0, count) });
          const { extensions } = read(record);
          const size = record.length - 5;
          if (extensions.size > 0) expect(size < 256 || size > 511).toBe(true);
        }
      }
    }
  });
});
