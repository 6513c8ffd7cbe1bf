import { type Socket } from 'node:net';

/** A BSON document of simple members (bsonspec.org). */
export function bson(members: Record<string, string | number | boolean | object>): Buffer {
  const parts = Object.entries(members).map(([name, value]) => {
    const key = Buffer.from(`${name}\0`, 'latin1');
    if (typeof value === 'string') {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(value.length + 1);
      return Buffer.concat([Buffer.from([2]), key, length, Buffer.from(`${value}\0`, 'latin1')]);
    }
    if (typeof value === 'boolean')
      return Buffer.concat([Buffer.from([8]), key, Buffer.from([value ? 1 : 0])]);
    if (typeof value === 'object') {
      const type = Array.isArray(value) ? 4 : 3;
      return Buffer.concat([Buffer.from([type]), key, bson(value as Record<string, object>)]);
    }
    const number = Buffer.alloc(8);
    number.writeDoubleLE(value);
    return Buffer.concat([Buffer.from([1]), key, number]);
  });
  const body = Buffer.concat([...parts, Buffer.from([0])]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length + 4);
  return Buffer.concat([length, body]);
}

/** A response of the MongoDB wire protocol. */
export function mongodbResponse(members: Parameters<typeof bson>[0]): Buffer {
  const document = bson(members);
  const head = Buffer.alloc(21);
  head.writeUInt32LE(21 + document.length, 0);
  head.write('PORT', 8, 'latin1');
  head.writeUInt32LE(2013, 12);
  return Buffer.concat([head, document]);
}

/** The record mark, then an accepted call with these results. */
export function rpcResponse(...results: number[]): Buffer {
  const words = [0x504f5254, 1, 0, 0, 0, 0, ...results];
  const bytes = Buffer.alloc(4 + 4 * words.length);
  bytes.writeUInt32BE(0x8000_0000 + 4 * words.length, 0);
  for (const [at, word] of words.entries()) bytes.writeUInt32BE(word, 4 + 4 * at);
  return bytes;
}

/** The answer to a negotiation of SMB 2. */
export function smb2Response({ signing, dialect }: { signing: number; dialect: number }): Buffer {
  const message = Buffer.alloc(64 + 65);
  message.write('\xfeSMB', 'latin1');
  message.writeUInt16LE(64, 4);
  message.writeUInt16LE(65, 64);
  message.writeUInt16LE(signing, 66);
  message.writeUInt16LE(dialect, 68);
  return framed(message);
}

/** The answer to a negotiation of SMB 1: the number of the chosen dialect. */
export function smb1Response(chosen: number): Buffer {
  const message = Buffer.alloc(32 + 1 + 34 + 2);
  message.write('\xffSMB\x72', 'latin1');
  message[32] = 17;
  message.writeUInt16LE(chosen, 33);
  message[35] = 3;
  return framed(message);
}

function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}

/** The answer of an X server that lets everyone in. */
export function x11Admission(vendor: string): Buffer {
  const padded = Buffer.alloc(Math.ceil(vendor.length / 4) * 4);
  padded.write(vendor, 'latin1');
  const head = Buffer.alloc(40);
  head[0] = 1;
  head.writeUInt16LE(11, 2);
  head.writeUInt16LE((32 + padded.length) / 4, 6);
  head.writeUInt16LE(vendor.length, 24);
  return Buffer.concat([head, padded]);
}

/** A BER element (X.690) of less than 128 bytes. */
function ber(tag: number, ...parts: (Buffer | number)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : part)));
  return Buffer.concat([Buffer.from([tag, body.length]), body]);
}

/** The answer of an SNMP agent with one text. */
export function snmpResponse({ version = 1, community = 'public', text = '', error = 0 }): Buffer {
  const name = ber(6, Buffer.from([0x2b, 6, 1, 2, 1, 1, 1, 0]));
  const bindings = ber(0x30, ber(0x30, name, ber(4, Buffer.from(text, 'latin1'))));
  const response = ber(0xa2, ber(2, 0x50, 0x4f), ber(2, error), ber(2, 0), bindings);
  return ber(0x30, ber(2, version), ber(4, Buffer.from(community, 'latin1')), response);
}

/** Answers each request by its first line or bytes; null hangs up. */
export function responding(reply: (request: Buffer) => Buffer | string | null, greeting?: string) {
  return (socket: Socket): void => {
    if (greeting !== undefined) socket.write(greeting, 'latin1');
    socket.on('data', (request) => {
      const said = reply(request as Buffer);
      if (said === null) socket.destroy();
      else socket.write(typeof said === 'string' ? Buffer.from(said, 'latin1') : said);
    });
  };
}

/** One answer of HTTP/1.1, closed afterwards by whoever asked. */
export function httpResponse(status: string, headers: Record<string, string>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join('')}Content-Length: ${body.length}\r\n\r\n${body}`;
}
