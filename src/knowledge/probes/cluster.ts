import { crc32 } from 'node:zlib';
import { latin1, rpcCall, uint16, uint32 } from '../requests/request-bytes.ts';
import { type Probe, requestProbe } from './probe.ts';

/** Probes of monitoring agents, clusters, storage, and services of Java and other runtimes. */

/** A text with a 16-bit length prefix. */
const counted = (text: string): Buffer => Buffer.concat([uint16(text.length), latin1(text)]);

/** A version 2 query, which all later versions accept, for the command that returns the server version. */
function nrpeQuery(): Buffer {
  const packet = Buffer.alloc(1036);
  packet.writeUInt16BE(2, 0);
  packet.writeUInt16BE(1, 2);
  packet.write('_NRPE_CHECK', 10, 'latin1');
  packet.writeUInt32BE(crc32(packet), 4);
  return packet;
}

/** FCGI_GET_VALUES, FastCGI specification section 4.1: a management record, not a request. */
function fastcgiValues(): Buffer {
  const names = ['FCGI_MAX_CONNS', 'FCGI_MAX_REQS', 'FCGI_MPXS_CONNS'];
  const pairs = Buffer.concat(
    names.map((name) => Buffer.concat([Buffer.from([name.length, 0]), latin1(name)])),
  );
  return Buffer.concat([Buffer.from([1, 9, 0, 0]), uint16(pairs.length), Buffer.from([0, 0]), pairs]);
}

/** EXCSAT of Distributed Data Management, with only the manager levels of agent and conversation. */
function drdaAttributes(): Buffer {
  const external = Buffer.from([0x97, 0x96, 0x99, 0xa3, 0x96, 0x93, 0x81, 0x95]);
  const parameter = (code: number, value: Buffer) => Buffer.concat([uint16(4 + value.length, code), value]);
  const body = Buffer.concat([
    parameter(0x115e, external),
    parameter(0x1404, uint16(0x1403, 7, 0x2407, 7)),
    parameter(0x116d, external),
  ]);
  const command = Buffer.concat([uint16(4 + body.length, 0x1041), body]);
  return Buffer.concat([uint16(6 + command.length), Buffer.from([0xd0, 1, 0, 1]), command]);
}

/**
 * The first message of the login phase (RFC 7143 section 11.12) of a discovery session, which only offers methods
 * and requests no further stage, so no session starts.
 */
function iscsiOffer(): Buffer {
  const text = latin1(
    'InitiatorName=iqn.2000-01.invalid.portolan:scanner\0SessionType=Discovery\0AuthMethod=None,CHAP\0',
  );
  const header = Buffer.alloc(48);
  header[0] = 0x43;
  header.writeUIntBE(text.length, 5, 3);
  // Initiator session id of the random format.
  header[8] = 0x80;
  header.writeUInt32BE(0x504f5254, 9);
  header.writeUInt32BE(1, 16);
  return Buffer.concat([header, text, Buffer.alloc((4 - (text.length % 4)) % 4)]);
}

/** The command `status` in a frame of the Groonga query transfer protocol. */
function groongaStatus(): Buffer {
  const head = Buffer.alloc(24);
  head[0] = 0xc7;
  head.writeUInt32BE('status'.length, 8);
  return Buffer.concat([head, latin1('status')]);
}

/** Statistics of a Zabbix server or proxy; it sends unauthorized clients a rejection. */
function zabbixStatistics(): Buffer {
  const request = '{"request":"zabbix.stats"}';
  const length = Buffer.alloc(8);
  length.writeUInt32LE(request.length);
  return Buffer.concat([latin1('ZBXD\x01'), length, latin1(request)]);
}

/** The first message between nodes of Erlang: a name. The reply names the node; the client ignores its challenge. */
function erlangName(): Buffer {
  // Capability flags that nodes of releases 23 to 27 require.
  const body = Buffer.concat([
    latin1('N'),
    uint32(0x14, 0x03075f94, 0),
    counted('portolan@portolan.invalid'),
  ]);
  return Buffer.concat([uint16(body.length), body]);
}

export const clusterProbes: readonly Probe[] = [
  requestProbe('nrpe', [5666], nrpeQuery(), 'all'),
  requestProbe('fastcgi', [], fastcgiValues(), 'all', { alsoPorts: [9000] }),
  // UWSGI_MODIFIER_PING.
  requestProbe('uwsgi', [3031], Buffer.from([100, 0, 0, 0]), 'word'),
  requestProbe('drda', [1527, 50_000, 50_001, 446, 9088, 9089], drdaAttributes(), 'tns'),
  // The handshake of the Java Debug Wire Protocol, then VirtualMachine.Version. A VM started suspended to wait for a
  // debugger resumes after one disconnects.
  requestProbe(
    'jdwp',
    [5005],
    Buffer.concat([latin1('JDWP-Handshake'), uint32(11, 0x504f5254), Buffer.from([0, 1, 1])]),
    'all',
    { intrusive: true, alsoPorts: [8787] },
  ),
  requestProbe('iscsi', [3260], iscsiOffer(), 'iscsi'),
  // The network information server of apcupsd: a command with a length prefix.
  requestProbe('apcupsd', [3551], counted('status'), 'all'),
  // Clients of the display server start with this word; the response names the server.
  requestProbe('lcdproc', [13_666], 'hello\n', 'line', { farewell: 'bye\n' }),
  // RFC 7047 section 4.1.1: the names of the databases.
  requestProbe('ovsdb', [6640, 6641, 6642], '{"method":"list_dbs","params":[],"id":"portolan"}', 'all'),
  // Cookie of a test that never starts: the server requests its parameters.
  requestProbe('iperf3', [5201], latin1(`${'portolan'.padEnd(36, 'x')}\0`), 'byte'),
  // AUTH_LIST of libvirt's remote protocol: the authentication methods; opens no connection.
  requestProbe('libvirt', [16_509, 16_514], uint32(28, 0x20008086, 1, 66, 0, 0, 0), 'whole'),
  // DUMP call of the GlusterFS program that lists all programs; replies have the form of every ONC RPC program.
  requestProbe('glusterfs', [24_007], rpcCall(123_451_501, 1, 1), 'rpc', { service: 'rpcbind' }),
  // First message of a cluster to its quorum device, with the cluster name; the reply states whether TLS is required.
  requestProbe(
    'corosync-qnetd',
    [5403],
    Buffer.concat([uint16(0), uint32(12), uint16(1), counted('portolan')]),
    'qnetd',
  ),
  requestProbe('gqtp', [10_043], groongaStatus(), 'binary-head'),
  // Same frame as the agents.
  requestProbe('zabbix-trapper', [10_051], zabbixStatistics(), 'all', { service: 'zabbix-agent' }),
  // A frame that no STOMP version defines: the wording of the error identifies the server.
  requestProbe('stomp', [61_613], 'HELP\n\n\0', 'all', { alsoPorts: [61_612] }),
  // The request `version` of the binary protocol, for servers without the text protocol.
  requestProbe(
    'memcached-binary',
    [11_210],
    Buffer.concat([Buffer.from([0x80, 0x0b]), Buffer.alloc(22)]),
    'binary-head',
    { service: 'memcached', alsoPorts: [11_211] },
  ),
  requestProbe('erlang-node', [25_672], erlangName(), 'erlang'),
];
