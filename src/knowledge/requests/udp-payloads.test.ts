import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePorts } from '../../domain/port.ts';
import { portCatalog } from '../ports.ts';
import { commonUdpPorts, udpPayloads } from './udp-payloads.ts';

const everyPort = Array.from({ length: 65_535 }, (_, at) => at + 1);
const withPayload = everyPort.filter((port) => udpPayloads(port).length > 0);
const bytesOf = (port: number, at = 0) => Buffer.from(udpPayloads(port)[at]?.bytes ?? []);

/** Parses well-formed BER; throws for anything else. */
function readBer(bytes: Buffer): { tag: number; body: Buffer }[] {
  const values = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes.readUInt8(at);
    const short = bytes.readUInt8(at + 1);
    const more = short < 0x80 ? 0 : short & 0x7f;
    const length = more === 0 ? short : bytes.readUIntBE(at + 2, more);
    const body = bytes.subarray(at + 2 + more, at + 2 + more + length);
    if (body.length !== length) throw new Error('cut off');
    values.push({ tag, body });
    at += 2 + more + length;
  }
  return values;
}

describe('UDP payloads', () => {
  it('fit a datagram', () => {
    for (const port of withPayload) {
      for (const { bytes } of udpPayloads(port)) {
        expect(bytes.length, String(port)).toBeGreaterThan(0);
        expect(bytes.length, String(port)).toBeLessThanOrEqual(1232);
      }
    }
  });

  it('are there for the services that networks have', () => {
    const wanted = [
      53, 69, 111, 123, 137, 161, 389, 500, 623, 1194, 1434, 1701, 1900, 3478, 3702, 4500, 5060,
    ];
    for (const port of [...wanted, 5353, 5683, 10_001, 11_211, 443, 177, 88])
      expect(withPayload).toContain(port);
    for (const port of [515, 631, 9100]) expect(withPayload).not.toContain(port);
  });

  it('reject bytes that are not a response', () => {
    const checks = withPayload
      .flatMap((port) => udpPayloads(port))
      .flatMap(({ looksLike }) => looksLike ?? []);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (response) => {
        for (const check of checks) expect(typeof check(response)).toBe('boolean');
      }),
    );
    for (const check of checks) expect(check(new Uint8Array(0))).toBe(false);
  });

  it('distinguish a TFTP response, which comes from any port, from responses of other services', () => {
    const [tftp] = udpPayloads(69);
    const isTftp = (...bytes: number[]) => tftp?.looksLike?.(Uint8Array.from(bytes));
    expect([isTftp(0, 5, 0, 1, 0x6e, 0), isTftp(0, 3, 0, 1)]).toEqual([true, true]);
    // DNS responses with the identifiers 3 and 5, a second block of data, an undefined error code.
    const others = [
      [0, 3, 0x81, 0x80],
      [0, 5, 0x81, 0x80],
      [0, 3, 0, 2],
      [0, 5, 0, 9],
      [0, 5],
      [0, 3, 0],
    ];
    for (const bytes of others) expect(isTftp(...bytes), String(bytes)).toBe(false);
  });

  it('query SNMP in three versions, each well formed', () => {
    const versions = [0, 1, 2].map((at) => {
      const [message] = readBer(bytesOf(161, at));
      const parts = readBer(message?.body ?? Buffer.alloc(0));
      expect(message?.tag).toBe(0x30);
      return parts[0]?.body[0];
    });
    expect(versions).toEqual([3, 1, 0]);
    const [, community, request] = readBer(readBer(bytesOf(161, 1))[0]?.body ?? Buffer.alloc(0));
    expect([community?.body.toString(), request?.tag]).toEqual(['public', 0xa0]);
  });

  it('have lengths that are right', () => {
    for (const [marker, port] of [
      [0, 500],
      [4, 4500],
    ] as const) {
      for (const at of [0, 1]) {
        const message = bytesOf(port, at).subarray(marker);
        expect(message.readUInt32BE(24)).toBe(message.length);
        expect(message[17]).toBe(at === 0 ? 0x20 : 0x10);
        let next = message[16] as number;
        let end = 28;
        while (next !== 0) {
          next = message[end] as number;
          end += message.readUInt16BE(end + 2);
        }
        expect(end).toBe(message.length);
      }
    }
    expect(bytesOf(443)).toHaveLength(1200);
    const dtls = bytesOf(5684);
    expect(dtls.readUInt16BE(11)).toBe(dtls.length - 13);
    expect(dtls.readUIntBE(14, 3)).toBe(dtls.length - 25);
    const l2tp = bytesOf(1701);
    expect(l2tp.readUInt16BE(2)).toBe(l2tp.length);
    expect(readBer(bytesOf(389))[0]?.body.length).toBe(bytesOf(389).length - 2);
    for (const port of [389, 88]) expect(readBer(bytesOf(port))).toHaveLength(1);
    expect(bytesOf(123)).toHaveLength(48);
  });

  it('recognize their own responses', () => {
    const response = Buffer.from(bytesOf(53));
    response[2] = 0x81;
    expect(udpPayloads(53)[0]?.looksLike?.(response)).toBe(true);
    response[0] = (response[0] as number) ^ 1;
    expect(udpPayloads(53)[0]?.looksLike?.(response)).toBe(false);
    const time = Buffer.alloc(48);
    time[0] = 0x24;
    bytesOf(123).copy(time, 24, 40, 48);
    expect(udpPayloads(123)[0]?.looksLike?.(time)).toBe(true);
  });
});

it('the usual UDP ports are a list in order, each once, with every payload', () => {
  expect(parsePorts(commonUdpPorts.join(','), portCatalog, 'udp').udp).toEqual(commonUdpPorts);
  for (const port of withPayload) expect(commonUdpPorts).toContain(port);
});
