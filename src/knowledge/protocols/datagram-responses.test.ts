import { expect, test } from 'vitest';
import { fuzzRounds, fuzzTimeout } from '../../../test/rounds.ts';
import { parseBinaryService, parseDatagramService } from './binary-service.ts';
import { parseNetworkService } from './network-service.ts';

/** Mutated responses per parser. */
const rounds = fuzzRounds(500);
const timeout = fuzzTimeout(rounds);

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** A name in a node status response: 15 characters, its suffix, flags. */
const node = (name: string, use: number, flags: number) =>
  Buffer.concat([latin1(name.padEnd(15)), Buffer.from([use, flags, 0])]);

const nodeStatus = (() => {
  const names = [
    node('ACCOUNTS', 0, 4),
    node('ACCOUNTS', 0x20, 4),
    node('\x01\x02__MSBROWSE__\x02', 1, 0x84),
    node('BACKOFFICE', 0, 0x84),
    node('BACKOFFICE', 0x1c, 0x84),
  ];
  const data = Buffer.concat([Buffer.from([names.length]), ...names, hex('525400123456'), Buffer.alloc(40)]);
  const owner = latin1(` CK${'A'.repeat(30)}\0`);
  const fixed = hex('0021 0001 00000000 0000');
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([hex('504f 8400 0000 0001 0000 0000'), owner, fixed, data]);
})();

const multicastInstance = Buffer.concat([
  hex('1234 8400 0001 0003 0000 0000'),
  latin1('\x0c_workstation\x04_tcp\x05local\0'),
  hex('000c8001 c00c 000c 0001 0000000a 0020'),
  latin1('\x1dfrontdesk [ba:67:90:df:9c:7f]'),
  hex('c00c c035 0010 0001 0000000a 0001 00 c035 0021 0001 0000000a 0012 0000 0000 0009'),
  latin1('\x09frontdesk'),
  hex('c01e'),
]);
const multicastName = Buffer.concat([
  hex('1234 8400 0000 0001 0000 0000'),
  latin1('\x0220\x014\x0280\x0210\x07in-addr\x04arpa\0'),
  hex('000c 0001 0000000a 0011'),
  latin1('\x09frontdesk\x05local\0'),
]);
const multicastServices = Buffer.concat([
  hex('1234 8400 0000 0001 0000 0000'),
  latin1('\x09_services\x07_dns-sd\x04_udp\x05local\0'),
  hex('000c 0001 0000000a 000c'),
  latin1('\x04_ipp\x04_tcp'),
  hex('c023'),
]);

const ntpVariables = (() => {
  const text = 'version="ntpd ntpsec-1.2.2", processor="x86_64",\r\nsystem="Linux/6.1.0"';
  const head = hex('1682 0001 0018 0000 0000 0000');
  head.writeUInt16BE(text.length, 10);
  return Buffer.concat([head, latin1(text)]);
})();

/** sysDescr, sysObjectID (8072.3.2.10) and sysName of a switch. */
const snmpSystem = hex(
  '3051 020101 0406 7075626c6963 a244 0202 504f 020100 020100 3038' +
    '3010 0608 2b06010201010100 0404 4c696e78' +
    '3012 0608 2b06010201010200 0606 2b0601040109' +
    '3010 0608 2b06010201010500 0404 636f7265',
);
const snmpReport = hex(
  '3070 020103 3010 0203 504f52 0203 00ffe3 0401 00 020103 0422 3020 0411 80001f8880f182ab7cf451026b00000000' +
    '020101 0202014b 0400 0400 0400 3035 0411 80001f8880f182ab7cf451026b00000000 0400 a81e 0203504f52 020100 020100' +
    '3011 300f 060a 2b060106030f01010400 410102',
);

const ike = hex(
  '2ec9e852450faaa9 52e7384dae895648 2b 20 22 20 00000000 00000030 00000014 882fe56d6fd20dbc2251613b2ebe5beb',
);
const tunnelReply = Buffer.concat([
  hex('c802 0040 0001 0000 0000 0001 8008 0000 0000 0002 8008 0000 0006 0690 800b 0000 0007'),
  latin1('gate7'),
  hex('0013 0000 0008'),
  latin1('xelerance.com'),
]);
const pptpReply = (() => {
  const reply = Buffer.alloc(156);
  hex('009c 0001 1a2b3c4d 0002 0000 0100 0100 00000000 00000000 0000 0001').copy(reply);
  reply.write('gate', 28, 'latin1');
  reply.write('linux', 92, 'latin1');
  return reply;
})();
const openvpnReset = hex('40 0102030405060708 01 00000000 504f52544f4c414e 00000000');

const stun = Buffer.concat([
  hex('0101 0018 2112a442 313233343536373839303132 8022 0014'),
  latin1("Coturn-4.6.1 'Gorst'"),
]);
const ssdp = latin1(
  'HTTP/1.1 200 OK\r\nST: upnp:rootdevice\r\nSERVER: Debian/12 UPnP/1.1 MiniUPnPd/2.3.1\r\nLOCATION: http://192.0.2.1:5000/rootDesc.xml\r\n\r\n',
);
const wsd = latin1(
  '<?xml version="1.0"?><s:Envelope xmlns:s="x"><s:Body><d:ProbeMatches><d:ProbeMatch><d:Types>wsdp:Device pub:Computer</d:Types><d:XAddrs>http://192.0.2.1:5357/1</d:XAddrs></d:ProbeMatch></d:ProbeMatches></s:Body></s:Envelope>',
);
const ipmi = hex('0600ff07 00 00000000 00000000 10 81 1c 63 20 00 38 00 01 85 06 03 000000 00 19');
const sqlText = 'ServerName;DB1;InstanceName;MSSQLSERVER;IsClustered;No;Version;15.0.2000.5;tcp;1433;;';
const sqlBrowser = Buffer.concat([Buffer.from([5, sqlText.length, 0]), latin1(sqlText)]);
const quic = hex('80 00000000 08 0102030405060708 08 1112131415161718 00000001 6b3343cf');
const dtls = hex(
  '16feff 0000 000000000000 0023 03 000017 0000 000000 000017 feff 14 0102030405060708090a0b0c0d0e0f1011121314',
);
const xdmcp = Buffer.concat([hex('0001 0005 0012 0000 0004'), latin1('desk'), hex('0006'), latin1('0 user')]);
const coap = Buffer.concat([hex('60 45 1234 c128 ff'), latin1('</>;title="General Info"')]);
const kerberos = Buffer.concat([
  hex('7e39 3037 a003 020105 a103 02011e a603 020106 a90d 1b0b'),
  latin1('EXAMPLE.ORG'),
  hex('ab12 1b10'),
  latin1('CLIENT_NOT_FOUND'),
]);

const rpcRefusal = hex('80000018 504f5254 00000001 00000000 00000000 00000000 00000001');
const rpcAccepted = hex('80000018 504f5254 00000001 00000000 00000000 00000000 00000000');
const credSsp = (() => {
  const challenge = Buffer.alloc(80);
  challenge.write('NTLMSSP\0\x02', 'latin1');
  challenge.writeUInt16LE(20, 40);
  challenge.writeUInt32LE(56, 44);
  Buffer.from([10, 0, 0x7c, 0x4f]).copy(challenge, 48);
  hex('0300 0c00').copy(challenge, 56);
  challenge.write('core-1', 60, 'utf16le');
  return Buffer.concat([hex('03000013 0ed00000123400 021f0800 02000000 3070'), challenge]);
})();

const datagrams: [probe: string, response: Buffer, service: string, evidence: Record<string, string>][] = [
  [
    'udp-netbios-ns',
    nodeStatus,
    'netbios-ns',
    {
      'netbios.names':
        'computer: ACCOUNTS\nfile_server: ACCOUNTS\ndomain: BACKOFFICE\ndomain_controllers: BACKOFFICE\nmac: 52:54:00:12:34:56',
    },
  ],
  [
    'udp-mdns-2',
    multicastInstance,
    'mdns',
    { 'mdns.host': 'frontdesk.local', 'mdns.instances': 'frontdesk [ba:67:90:df:9c:7f]' },
  ],
  ['udp-mdns-4', multicastName, 'mdns', { 'mdns.host': 'frontdesk.local' }],
  ['udp-mdns', multicastServices, 'mdns', { 'mdns.services': '_ipp._tcp' }],
  [
    'ntp-variables',
    ntpVariables,
    'ntp',
    { 'ntp.variables': 'version="ntpd ntpsec-1.2.2", processor="x86_64", system="Linux/6.1.0"' },
  ],
  [
    'snmp-v2c-public',
    snmpSystem,
    'snmp',
    {
      'snmp.sysdescr': 'Linx',
      'snmp.sysname': 'core',
      'snmp.sysobjectid': '1.3.6.1.4.1.9',
      'snmp.vendor': 'Cisco',
    },
  ],
  [
    'snmp-v3',
    snmpReport,
    'snmp',
    { 'snmp.engine': '80001f8880f182ab7cf451026b00000000', 'snmp.agent': 'Net-SNMP' },
  ],
  ['udp-isakmp', ike, 'isakmp', { 'ike.version': '2', 'ike.vendor-ids': '882fe56d6fd20dbc2251613b2ebe5beb' }],
  ['udp-l2tp', tunnelReply, 'l2tp', { 'l2tp.names': 'host: gate7\nvendor: xelerance.com\nfirmware: 0690' }],
  ['udp-openvpn', openvpnReset, 'openvpn', { 'openvpn.answer': 'hard reset' }],
  ['udp-stun', stun, 'stun', { 'stun.software': "Coturn-4.6.1 'Gorst'" }],
  [
    'udp-ssdp',
    ssdp,
    'ssdp',
    {
      'ssdp.server': 'Debian/12 UPnP/1.1 MiniUPnPd/2.3.1',
      'ssdp.location': 'http://192.0.2.1:5000/rootDesc.xml',
      'ssdp.st': 'upnp:rootdevice',
    },
  ],
  [
    'udp-ws-discovery',
    wsd,
    'ws-discovery',
    { 'wsd.types': 'wsdp:Device pub:Computer', 'wsd.xaddrs': 'http://192.0.2.1:5357/1' },
  ],
  [
    'udp-ipmi-2',
    ipmi,
    'ipmi',
    { 'ipmi.version': '2.0', 'ipmi.methods': 'none md5', 'ipmi.anonymous': 'no name' },
  ],
  ['udp-ms-sql-m', sqlBrowser, 'ms-sql-m', { 'mssql.instances': sqlText, 'mssql.version': '15.0.2000.5' }],
  ['udp-quic', quic, 'quic', { 'quic.versions': '00000001 6b3343cf' }],
  ['udp-dtls', dtls, 'dtls', { 'dtls.answer': 'DTLSv1.0 HelloVerifyRequest' }],
  ['udp-xdmcp', xdmcp, 'xdmcp', { 'xdmcp.host': 'desk', 'xdmcp.status': '0 user' }],
  ['udp-coap', coap, 'coap', { 'coap.payload': '</>;title="General Info"' }],
  [
    'udp-kerberos',
    kerberos,
    'kerberos',
    { 'kerberos.realm': 'EXAMPLE.ORG', 'kerberos.error': '6 CLIENT_NOT_FOUND' },
  ],
];

test.each(datagrams)('reads the response to %s', (probe, response, service, evidence) => {
  const record = parseDatagramService(response, probe);
  expect(record?.service).toBe(service);
  expect(Object.fromEntries(record?.evidence ?? [])).toEqual(evidence);
});

const streams: [probe: string, response: Buffer, service: string, evidence: Record<string, string>][] = [
  ['stun', stun, 'stun', { 'stun.software': "Coturn-4.6.1 'Gorst'" }],
  ['pptp', pptpReply, 'pptp', { 'pptp.names': 'host: gate\nvendor: linux\nfirmware: 0001' }],
  [
    'openvpn',
    Buffer.concat([Buffer.from([0, openvpnReset.length]), openvpnReset]),
    'openvpn',
    { 'openvpn.answer': 'hard reset' },
  ],
  ['rpc-program', Buffer.concat([rpcRefusal, rpcAccepted]), 'status', { 'rpc.program': 'status' }],
  [
    'rdp-session',
    hex('03000013 0ed00000123400 02010800 01000000'),
    'rdp',
    { 'rdp.security': 'tls', 'rdp.choice': '1234000201080001000000' },
  ],
];

test.each(streams)('reads the response to the probe %s', (probe, response, service, evidence) => {
  const record = parseBinaryService(response, probe);
  expect(record?.service).toBe(service);
  expect(Object.fromEntries(record?.evidence ?? [])).toEqual(evidence);
});

test('reads the NTLM challenge inside RDP over TLS', () => {
  expect(parseNetworkService(credSsp, 'rdp-session')).toMatchObject({
    service: 'rdp',
    evidence: [
      ['rdp.build', '10.0.20348'],
      ['ntlm.names', 'dns_computer: core-1'],
    ],
  });
});

test('a response to another probe yields null', () => {
  for (const [probe] of datagrams) expect(parseDatagramService(latin1('220 ready\r\n'), probe)).toBeNull();
  expect(parseDatagramService(stun, 'udp-constructor')).toBeNull();
  expect(parseBinaryService(rpcRefusal, 'rpc-program')).toBeNull();
});

test('parsing a compressed name that points to itself terminates', () => {
  const circle = Buffer.concat([
    hex('1234 8400 0000 0001 0000 0000'),
    hex('c00c 000c 0001 00000000 0002 c00c'),
  ]);
  expect(parseDatagramService(circle, 'udp-mdns')?.evidence).toEqual([]);
});

test(`${rounds} mutated responses per parser cause no exception`, { timeout }, () => {
  let state = 7;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  for (const [probe, seed] of [...datagrams, ...streams, ['rdp-session', credSsp] as const]) {
    for (let round = 0; round < rounds; round++) {
      const bytes = Buffer.concat([seed, Buffer.alloc(random(40), random(256))]).subarray(
        0,
        1 + random(seed.length + 40),
      );
      for (let change = random(6); change > 0; change--) bytes[random(bytes.length)] = random(256);
      parseDatagramService(bytes, probe);
      parseBinaryService(bytes, probe);
      parseNetworkService(bytes, probe);
    }
  }
});
