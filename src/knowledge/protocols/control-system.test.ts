import { expect, test } from 'vitest';
import { parseDatagramService } from './binary-service.ts';
import { parseControlSystem } from './control-system.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const latin1 = (text: string) => Buffer.from(text, 'latin1');

const identity = Buffer.concat([
  hex('6300 2e00 00000000 00000000'),
  latin1('PORTOLAN'),
  hex('00000000 0100 0c00 2800 0100'),
  hex('0002af12 0a000001 0000000000000000'),
  hex('0100 0e00 3600 1402 3000 78563412 06'),
  latin1('1756-L'),
  hex('00'),
]);
const vendor = Buffer.concat([
  hex('810a001e 0100 30010c 0c02000005 1979 3e 750a00'),
  latin1('Acme Corp'),
  hex('3f'),
]);
vendor.writeUInt16BE(vendor.length, 2);
const controller = Buffer.concat([
  hex('c00002006300000000ef 0501 0000'),
  latin1('CJ2M-CPU33'.padEnd(20, '\0')),
  latin1('02.01'.padEnd(20, '\0')),
]);

const streams: [probe: string, response: Buffer, service: string, evidence: Record<string, string>][] = [
  ['modbus', hex('504f 0000 0003 ff ab 01'), 'modbus', {}],
  [
    'modbus-unit',
    hex('504f 0000 000e 01 2b0e01010000 01 00 04 41636d65'),
    'modbus',
    { 'modbus.identity': 'vendor: Acme' },
  ],
  ['iso-tsap', hex('03000016 11d0504f000300c0010ac1020100c2020102'), 'iso-tsap', {}],
  ['iso-tsap', hex('0300000b 0680504f000085'), 'iso-tsap', {}],
  [
    'ethernet-ip',
    identity,
    'ethernet-ip',
    { 'ethernet-ip.identity': 'product: 1756-L\nvendor: 1\nrevision: 20.2\nserial: 305419896' },
  ],
  ['iec-104', hex('680483000000'), 'iec-104', {}],
  ['dnp3', hex('0564050b504f0a00 0000'), 'dnp3', { 'dnp3.address': '10' }],
  [
    'niagara-fox',
    latin1('fox a 0 -1 fox hello\n{\nfox.version=s:1.0.1\nhostName=s:plant-7\napp.version=s:3.8.38\n};;\n'),
    'niagara-fox',
    { 'fox.hello': 'hostName: plant-7\napp.version: 3.8.38' },
  ],
  ['fins', hex('46494e53 00000010 00000001 00000000 000000fb 00000001'), 'fins', {}],
];

const datagrams: typeof streams = [
  ['udp-ethernet-ip', identity, 'ethernet-ip', { 'ethernet-ip.identity': expect.stringContaining('1756-L') }],
  ['udp-bacnet', vendor, 'bacnet', { 'bacnet.vendor': 'Acme Corp' }],
  ['udp-bacnet', hex('810a0009 0100 500c 00'), 'bacnet', {}],
  ['udp-fins', controller, 'fins', { 'fins.controller': 'model: CJ2M-CPU33\nversion: 02.01' }],
];

test.each(streams)('reads the response to the probe %s', (probe, response, service, evidence) => {
  const record = parseControlSystem(response, probe);
  expect([record?.service, Object.fromEntries(record?.evidence ?? [])]).toEqual([service, evidence]);
});

test.each(datagrams)('reads the response to the datagram %s', (probe, response, service, evidence) => {
  const record = parseDatagramService(response, probe);
  expect([record?.service, Object.fromEntries(record?.evidence ?? [])]).toEqual([service, evidence]);
});

test('responses of others, cut ones and those to other probes are no control systems', () => {
  const others = ['', 'HTTP/1.1 400 Bad Request\r\n\r\n', '\x15\x03\x01\0\x02\x02\x28', 'SSH-2.0-x\r\n'].map(
    latin1,
  );
  for (const [probe, response] of streams) {
    for (const bytes of [...others, response.subarray(0, 5)])
      expect([probe, parseControlSystem(bytes, probe)]).toEqual([probe, null]);
    expect(parseControlSystem(response, 'http')).toBeNull();
  }
  expect(parseControlSystem(identity, 'constructor')).toBeNull();
});
