import { createHash } from 'node:crypto';
import type { HelloOffer } from './client-hello.ts';
import type { ServerHello } from './server-flight.ts';
import type { TlsVersion } from './versions.ts';

/** Format version of the print; increase it if the request or the notation changes. */
const form = 'sh1';

/** Length of the truncated hash, hexadecimal digits. */
const hashDigits = 16;

/** Maximum length of the ALPN protocol, characters. */
const protocolLength = 16;

const extension = { serverName: 0, alpn: 16 } as const;

const suitesOf13 = [0x1301, 0x1302, 0x1303];
const suitesOf12 = [
  0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc009, 0xc013, 0xc00a, 0xc014, 0x009e, 0x009f, 0x0033,
  0x0039, 0x009c, 0x009d, 0x002f, 0x0035, 0x000a,
];
const groups = [0x001d, 0x0017, 0x0018, 0x0019];

/** The request for a print: always the same, so that prints of servers are comparable. */
export function printOffer(
  version: TlsVersion,
): Pick<HelloOffer, 'version' | 'suites' | 'groups' | 'alpn' | 'compression' | 'heartbeat' | 'status'> {
  const modern = version === 'TLSv1.3';
  return {
    version,
    suites: modern ? suitesOf13 : suitesOf12,
    groups,
    alpn: ['h2', 'http/1.1'],
    compression: false,
    heartbeat: true,
    status: true,
  };
}

const versionNames: Readonly<Record<number, string>> = {
  0x0300: 's3',
  0x0301: '10',
  0x0302: '11',
  0x0303: '12',
  0x0304: '13',
};

/**
 * The print of a response to `printOffer`: `sh1.VERSION.COUNT.ALPN.SUITE.HASH`. The hash covers the extensions in
 * order, type and length of each in two bytes. It omits server_name, which appears only if the request sent a name.
 * @param protocolsRefused the server responded only to an offer without ALPN
 */
export function helloPrint(hello: ServerHello, protocolsRefused: boolean): string {
  const extensions = [...hello.extensions].filter(([type]) => type !== extension.serverName);
  const list = Buffer.alloc(4 * extensions.length);
  for (const [at, [type, content]] of extensions.entries()) {
    list.writeUInt16BE(type, 4 * at);
    list.writeUInt16BE(content.length, 4 * at + 2);
  }
  const version = `${versionNames[hello.version] ?? hex(hello.version)}${hello.retry ? 'r' : ''}`;
  const protocol = protocolsRefused ? '!' : protocolIn(hello.extensions.get(extension.alpn));
  const hash = createHash('sha256').update(list).digest('hex').slice(0, hashDigits);
  return [form, version, extensions.length, protocol, hex(hello.suite), hash].join('.');
}

/** RFC 7301, 3.1: a list with one name. */
function protocolIn(content: Buffer | undefined): string {
  const name = content?.toString('latin1', 3, 3 + (content[2] ?? 0)) ?? '';
  return name.replace(/[^A-Za-z0-9]/g, '').slice(0, protocolLength) || '-';
}

function hex(value: number): string {
  return value.toString(16).padStart(4, '0');
}
