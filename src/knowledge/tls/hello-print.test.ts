import { createHash } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { clientHello } from './client-hello.ts';
import { helloPrint, printOffer } from './hello-print.ts';
import { readServerHello, type ServerHello } from './server-flight.ts';

/** ServerHello bodies recorded in response to `printOffer`. */
const recorded = [
  {
    server: 'nginx with OpenSSL 3.0 in TLS 1.3',
    body: '0303c4327d25371c46a30ec1dffea452091673a96c9ec1c8a71a08be7b82bda0acbf2053156b4feb763d86bc4d0a7d0243b1cdcb77e1a405f779393c9b168782860e83130100002e002b0002030400330024001d00201d78148417cee96ff77f2519d40030e1d30b25c3904db6d243209e45c1525e10',
    print: 'sh1.13.2.-.1301.6effb9457f6e4057',
  },
  {
    server: 'the same in TLS 1.2, with session tickets',
    body: '03030930c176c14a9dfb8e14562ce5d1ab6cd10bf34c14676703444f574e4752440100c02f00001eff01000100000b0004030001020023000000100005000302683200170000',
    print: 'sh1.12.5.h2.c02f.d73ca5f4f98754b5',
  },
  {
    server: 'nginx without tickets and HTTP/2, whose own order counts',
    body: '03034caa4788dbc65fa2d283219e0373a842c455c06ecec484145d29f82552ab506200c030000020ff01000100000b0004030001020010000b000908687474702f312e3100170000',
    print: 'sh1.12.4.http11.c030.4a1942c7908a76d3',
  },
  {
    server: 'nginx that wants another group',
    body: '0303cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c20f9a89c874e4da7c63b60b749551e2949ff6ee6eae4218662b6ffcb7cc45a4b01130300000c002b00020304003300020018',
    print: 'sh1.13r.2.-.1303.acaca5a520616998',
  },
  {
    server: 's_server of OpenSSL 3.0 without tickets',
    body: '0303634b1cec1ab7182137e9e0cfad49668c6782f046d32f13d4444f574e47524401207e451d40bfe521c6e5a3020c226ac3d08a8500f0da64e454d058b2954ab20e6ec02f000011ff01000100000b00040300010200170000',
    print: 'sh1.12.3.-.c02f.f2e6b5e3edb8e107',
  },
];

/** A change here changes the form of the print: prints are no longer comparable with older ones. */
const requests = {
  'TLSv1.3': 'aa86ba83b9434355',
  'TLSv1.2': '2f0f7f96bd6f5008',
  'TLSv1.0': 'eb3a215ea6d9310a',
};

function read(body: string): ServerHello {
  const hello = readServerHello(Buffer.from(body, 'hex'));
  if (!hello) throw new Error('no hello');
  return hello;
}

describe('prints of recorded hellos', () => {
  it.each(recorded)('$server', ({ body, print }) => {
    expect(helloPrint(read(body), false)).toBe(print);
  });

  it('ignores random and session; depends on the order of the extensions', () => {
    const { body, print } = recorded[0] as (typeof recorded)[number];
    const other = `${body.slice(0, 4)}${'5a'.repeat(32)}${body.slice(68)}`;
    expect(helloPrint(read(other), false)).toBe(print);
    const hello = read(body);
    const turned = { ...hello, extensions: new Map([...hello.extensions].reverse()) };
    expect(helloPrint(turned, false)).not.toBe(print);
  });
});

const bare: ServerHello = {
  version: 0x0301,
  suite: 0x002f,
  compression: 0,
  extensions: new Map(),
  sessionId: Buffer.alloc(0),
  retry: false,
  marked: false,
};

test('a print consists of reproducible parts', () => {
  const nothing = createHash('sha256').update('').digest('hex').slice(0, 16);
  expect(helloPrint(bare, false)).toBe(`sh1.10.0.-.002f.${nothing}`);
  expect(helloPrint(bare, true)).toBe(`sh1.10.0.!.002f.${nothing}`);
  const named = { ...bare, extensions: new Map([[0, Buffer.alloc(0)]]) };
  expect(helloPrint(named, false)).toBe(helloPrint(bare, false));
  const list = createHash('sha256').update(Buffer.from('ff0100010010000b', 'hex')).digest('hex').slice(0, 16);
  const extensions = new Map([
    [0xff01, Buffer.from([0])],
    [16, Buffer.from('\0\x09\x08http/1.1', 'latin1')],
  ]);
  expect(helloPrint({ ...bare, version: 0x0303, extensions }, false)).toBe(`sh1.12.2.http11.002f.${list}`);
  expect(helloPrint({ ...bare, version: 0x0304, retry: true }, false)).toBe(`sh1.13r.0.-.002f.${nothing}`);
  expect(helloPrint({ ...bare, version: 0x7f17 }, false)).toBe(`sh1.7f17.0.-.002f.${nothing}`);
});

test('a protocol with odd bytes becomes a short word', () => {
  const content = Buffer.concat([Buffer.from([0, 201, 200]), Buffer.alloc(200, '<a.b> ')]);
  const print = helloPrint({ ...bare, extensions: new Map([[16, content]]) }, false);
  expect(print).toMatch(/^sh1\.10\.1\.(?:ab){8}\.002f\.[0-9a-f]{16}$/);
});

test.each(['TLSv1.3', 'TLSv1.2', 'TLSv1.0'] as const)('the request in %s never changes', (version) => {
  const fixed = { keyShare: true, serverName: null, extensions: true, random: Buffer.alloc(64, 7) };
  const hello = clientHello({ ...fixed, ...printOffer(version) });
  const digest = createHash('sha256').update(hello).digest('hex').slice(0, 16);
  expect(digest).toBe(requests[version]);
});
