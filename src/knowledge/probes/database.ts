import { uint32 } from '../requests/request-bytes.ts';
import { type Probe, requestProbe } from './probe.ts';

/** Probes of databases, caches and their coordinators. */

/** PRELOGIN, MS-TDS section 2.2.6.5: version, encryption, instance, thread, MARS. */
function tdsPrelogin(): Buffer {
  const options: [token: number, data: number[]][] = [
    [0, [16, 0, 0, 0, 0, 0]],
    // ENCRYPT_NOT_SUP: the response states the server's own requirement.
    [1, [2]],
    [2, [0]],
    [3, [0, 0, 0, 0]],
    [4, [0]],
  ];
  const heads: number[] = [];
  const data: number[] = [];
  const start = options.length * 5 + 1;
  for (const [token, value] of options) {
    const offset = start + data.length;
    heads.push(token, offset >> 8, offset & 0xff, 0, value.length);
    data.push(...value);
  }
  const body = [...heads, 0xff, ...data];
  const length = body.length + 8;
  return Buffer.from([0x12, 1, length >> 8, length & 0xff, 0, 0, 0, 0, ...body]);
}

/** Connect packet of the Transparent Network Substrate with a command that every listener accepts or rejects. */
function tnsVersion(): Buffer {
  const command = Buffer.from('(CONNECT_DATA=(COMMAND=version))', 'latin1');
  const head = Buffer.alloc(58);
  head.writeUInt16BE(head.length + command.length, 0);
  head[4] = 1;
  // Version, lowest version, no options, sizes of the data units, characteristics, byte order mark.
  for (const [at, value] of [310, 300, 0, 2048, 32_767, 0x7f08, 0, 1].entries())
    head.writeUInt16BE(value, 8 + 2 * at);
  head.writeUInt16BE(command.length, 24);
  head.writeUInt16BE(head.length, 26);
  return Buffer.concat([head, command]);
}

/** ApiVersions, version 0: the APIs of a broker. Client id `portolan`. */
function kafkaApiVersions(): Buffer {
  const client = Buffer.from('portolan', 'latin1');
  const request = Buffer.alloc(14);
  request.writeUInt32BE(10 + client.length, 0);
  request.writeUInt16BE(18, 4);
  // A small number: servers of other protocols read it as a length and allocate that much.
  request.write('PO', 10, 'latin1');
  request.writeUInt16BE(client.length, 12);
  return Buffer.concat([request, client]);
}

/** op_connect of the remote protocol with the versions 10 to 13 and no user; the server accepts or rejects. */
function firebirdConnect(): Buffer {
  const offers = [10, 0x800b, 0x800c, 0x800d];
  // op_connect, op_attach, CONNECT_VERSION3, generic architecture, no file name, protocols offered, no user block.
  const head = uint32(1, 19, 3, 1, 0, offers.length, 0);
  const protocols = offers.map((version, preference) => uint32(version, 1, 0, 5, 2 * (preference + 1)));
  return Buffer.concat([head, ...protocols]);
}

export const databaseProbes: readonly Probe[] = [
  requestProbe('mssql', [1433, 1434, 2433], tdsPrelogin(), 'tds'),
  requestProbe('oracle-tns', [1521, 1522, 1525, 1526, 2483], tnsVersion(), 'tns'),
  // OPTIONS of the native protocol, version 4, section 4.1.3: supported CQL versions and compressions.
  requestProbe('cassandra', [9042, 9142], Buffer.from([4, 0, 0, 0, 5, 0, 0, 0, 0]), 'cassandra'),
  requestProbe('kafka', [9092, 9093, 9094, 19_092, 29_092], kafkaApiVersions(), 'counted'),
  // The only four-letter command that recent versions accept by default.
  requestProbe('zookeeper', [2181, 2182], 'srvr\n', 'all'),
  // The four newest generations of the Bolt handshake; the server replies with the one it selects.
  requestProbe(
    'bolt',
    [7687],
    Buffer.from([0x60, 0x60, 0xb0, 0x17, 0, 4, 4, 5, 0, 2, 4, 4, 0, 0, 1, 4, 0, 0, 0, 3]),
    'word',
  ),
  // Statistics, among them the version.
  requestProbe('beanstalkd', [11_300], 'stats\r\n', 'all', { farewell: 'quit\r\n' }),
  requestProbe('firebird', [3050], firebirdConnect(), 'all'),
];
