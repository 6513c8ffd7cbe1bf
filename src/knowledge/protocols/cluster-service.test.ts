import { describe, expect, it } from 'vitest';
import { serviceOf } from '../probes/first-bytes.ts';
import { probeNamed, secondProbesForPort } from '../probes/probes.ts';
import { parseClusterService } from './cluster-service.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const latin1 = (text: string) => Buffer.from(text, 'latin1');

const nrpe = Buffer.concat([hex('0002000260f7b5810000'), latin1('NRPE v4.1.0\0'), Buffer.alloc(1014)]);
const nrpe4 = Buffer.concat([hex('00040002000000000000 00000000 000c'), latin1('NRPE v4.1.0\0')]);
const derby = hex(
  '0079d002000100731443001d115ed585a3a6969992e28599a58599c39695a39996934094818995000c1404140300072407000700101147c197' +
    '8183888540c4859982a80018116dd585a3a6969992e28599a58599c39695a3999693001e115ac3e2e2f1f0f1f4f061f1f04bf1f44bf24bf0' +
    '4060404d6f6f6f5d',
);
const db2 = hex('0025d0030001001f1443000c115ae2d8d3f1f1f0f5f5000f1147d8c4c2f261d3c9d5e4e7f8');
const machine = Buffer.concat([
  latin1('JDWP-Handshake'),
  // A VM event comes first.
  hex('0000000f 00000000 00 4064 02000000'),
  hex('00000035 504f5254 80 0000 00000003'),
  latin1('x y'),
  hex('00000011 00000000 00000009'),
  latin1('17.0.21.1'),
  hex('0000000a'),
  latin1('OpenJDK VM'),
]);
const rabbit = Buffer.concat([
  hex('0003736f6b00234e0000000d07df7fbdf198cfaf6b0255500010'),
  latin1('rabbit@localhost'),
]);
const memcached = Buffer.concat([hex('810b0000000000000000000600000000 0000000000000000'), latin1('1.6.18')]);
const zabbix = (text: string) => {
  const length = Buffer.alloc(8);
  length.writeUInt32LE(text.length);
  return Buffer.concat([latin1('ZBXD\x01'), length, latin1(text)]);
};
const fastcgi = Buffer.concat([hex('010a0000001206000f01'), latin1('FCGI_MPXS_CONNS0'), Buffer.alloc(6)]);
const iscsi = Buffer.concat([
  hex('2300000000000027'),
  Buffer.alloc(40),
  latin1('TargetPortalGroupTag=1\0AuthMethod=None\0\0'),
]);
const groonga = Buffer.concat([
  hex('c702000000020000 00000014 00000000 0000000000000000'),
  latin1('{"version":"13.0.0"}'),
]);

/** PeerProperties response with two pairs. */
const stream = Buffer.concat([
  hex('0000002d 80110001 00000001 0001 00000002'),
  ...['product', 'RabbitMQ', 'version', '3.10.8'].map((text) =>
    Buffer.concat([Buffer.from([0, text.length]), latin1(text)]),
  ),
]);

const responses: [probe: string, bytes: Buffer, service: string, evidence: [string, string][]][] = [
  ['nrpe', nrpe, 'nrpe', [['nrpe.answer', 'NRPE v4.1.0']]],
  ['nrpe', nrpe4, 'nrpe', [['nrpe.answer', 'NRPE v4.1.0']]],
  [
    'drda',
    derby,
    'drda',
    [
      [
        'drda.attributes',
        'external: NetworkServerControl main\nclass: Apache Derby\nrelease: CSS10140/10.14.2.0 - (???)',
      ],
    ],
  ],
  ['drda', db2, 'drda', [['drda.attributes', 'release: SQL11055\nclass: QDB2/LINUX8']]],
  ['jdwp', machine, 'jdwp', [['jdwp.version', '17.0.21.1 OpenJDK VM']]],
  ['erlang-node', rabbit, 'erlang-node', [['erlang.node', 'rabbit@localhost']]],
  ['erlang-node', hex('0004736e6f6b'), 'erlang-node', [['erlang.status', 'nok']]],
  ['memcached-binary', memcached, 'memcached', [['memcached.version', '1.6.18']]],
  [
    'zabbix-trapper',
    zabbix('{"response":"failed","info":"Permission denied."}'),
    'zabbix-trapper',
    [['zabbix.server', 'zabbix.stats']],
  ],
  [
    'zabbix-trapper',
    zabbix('{"response":"success","data":{"boottime":1,"version":"6.0.14"}}'),
    'zabbix-trapper',
    [['zabbix.server', '6.0.14']],
  ],
  ['rabbitmq-stream', stream, 'rabbitmq-stream', [['rabbitmq.stream', 'RabbitMQ 3.10.8']]],
  ['fastcgi', fastcgi, 'fastcgi', [['fastcgi.values', 'FCGI_MPXS_CONNS=0']]],
  ['uwsgi', hex('64000001'), 'uwsgi', [['uwsgi.ping', 'pong']]],
  [
    'iscsi',
    iscsi,
    'iscsi',
    [['iscsi.answer', 'login response, status 0.0 TargetPortalGroupTag=1 AuthMethod=None']],
  ],
  ['iperf3', hex('09'), 'iperf3', [['iperf.state', 'PARAM_EXCHANGE']]],
  [
    'ovsdb',
    latin1('{"id":"portolan","result":["Open_vSwitch"],"error":null}'),
    'ovsdb',
    [['ovsdb.databases', '"Open_vSwitch"']],
  ],
  [
    'corosync-qnetd',
    hex('00010000000a00020001000003000101'),
    'corosync-qnetd',
    [['qnetd.answer', 'preinit reply']],
  ],
  ['gqtp', groonga, 'gqtp', [['groonga.version', '13.0.0']]],
  [
    'libvirt',
    hex('00000024 20008086 00000001 00000042 00000001 00000000 00000000 00000001 00000000'),
    'libvirt',
    [['libvirt.answer', 'remote protocol 1']],
  ],
  [
    'null',
    Buffer.concat([Buffer.alloc(128, 0xd6), hex('6b024f67')]),
    'nsca',
    [['nsca.greeting', '128 random bytes and a time']],
  ],
];

describe('parseClusterService', () => {
  it.each(responses)('reads a response to %s', (probe, bytes, service, evidence) => {
    expect(parseClusterService(bytes, probe)).toMatchObject({ service, evidence });
  });

  it.each(responses)('never throws on a truncated response to %s', (probe, bytes) => {
    for (let length = 0; length < Math.min(bytes.length, 200); length++) {
      expect(() => parseClusterService(bytes.subarray(0, length), probe)).not.toThrow();
    }
  });

  it.each(responses.filter(([probe]) => !['null', 'iperf3', 'uwsgi'].includes(probe)))(
    'a response to %s ends further probing',
    (_probe, bytes) => {
      expect(serviceOf(bytes)).not.toBeNull();
    },
  );

  it('ignores responses of other services', () => {
    expect(parseClusterService(latin1('HTTP/1.1 200 OK\r\n\r\n'), 'http')).toBeNull();
    expect(parseClusterService(zabbix('6.0.14'), 'zabbix-agent')).toBeNull();
    // Random bytes with an invalid time, and a text of the same length.
    expect(parseClusterService(Buffer.alloc(132, 0xd6), 'null')).toBeNull();
    expect(parseClusterService(Buffer.alloc(132, 0x61), 'null')).toBeNull();
  });

  it('the error reply to an HTTP request identifies a Zabbix Java gateway', () => {
    const refusal = zabbix('{"response":"failed","error":"bad protocol header: 47 45 54 20 2F"}');
    expect(parseClusterService(refusal, 'http')?.service).toBe('zabbix-java-gateway');
  });
});

describe('the requests', () => {
  const request = (name: string) => {
    const send = probeNamed(name).steps[0]?.send ?? '';
    const message = typeof send === 'function' ? send('192.0.2.1', Buffer.alloc(0), 5666) : send;
    return typeof message === 'string' ? latin1(message) : Buffer.from(message);
  };

  it.each<[probe: string, length: (bytes: Buffer) => number]>([
    ['nrpe', () => 1036],
    ['drda', (bytes) => bytes.readUInt16BE(0)],
    ['drda', (bytes) => 6 + bytes.readUInt16BE(6)],
    ['fastcgi', (bytes) => 8 + bytes.readUInt16BE(4)],
    ['jdwp', (bytes) => 14 + bytes.readUInt32BE(14)],
    ['iscsi', (bytes) => 48 + 4 * Math.ceil(bytes.readUIntBE(5, 3) / 4)],
    ['apcupsd', (bytes) => 2 + bytes.readUInt16BE(0)],
    ['libvirt', (bytes) => bytes.readUInt32BE(0)],
    ['glusterfs', (bytes) => 4 + (bytes.readUInt32BE(0) & 0x7fff_ffff)],
    ['corosync-qnetd', (bytes) => 6 + bytes.readUInt32BE(2)],
    ['gqtp', (bytes) => 24 + bytes.readUInt32BE(8)],
    ['zabbix-trapper', (bytes) => 13 + bytes.readUInt32LE(5)],
    ['memcached-binary', (bytes) => 24 + bytes.readUInt32BE(8)],
    ['erlang-node', (bytes) => 2 + bytes.readUInt16BE(0)],
    ['iperf3', () => 37],
  ])('the request to %s states its own length', (name, length) => {
    const bytes = request(name);
    expect(length(bytes)).toBe(bytes.length);
  });

  it('the iSCSI login request names no next stage', () => {
    // Transit bit and stages: security negotiation, no next stage.
    expect(request('iscsi')[1]).toBe(0);
  });

  it('a port may belong to a less common service', () => {
    expect(secondProbesForPort(9000, false).map(({ name }) => name)).toContain('fastcgi');
    expect(secondProbesForPort(12_345, false)).toEqual([]);
  });
});
