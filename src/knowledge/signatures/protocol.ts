import { products } from './product-names.ts';
import { protocolRows, rows } from './row.ts';
import type { Signature } from './signature.ts';

const protocol = protocolRows('protocol', 0.8);
const raw = (service: string, certainty?: number) => rows(service, 'banner.raw', certainty);

/** Protocols recognized by their first bytes, with products that identify themselves there. */
export const protocolSignatures: readonly Signature[] = [
  protocol('vnc', String.raw`^RFB \d{3}\.\d{3}\n`, 'RFB 003.008\n'),
  protocol('telnet', String.raw`^\xff[\xfb-\xfe][\x00-\x31\xff]`, '\xff\xfd\x18\xff\xfd '),
  protocol('rtsp', String.raw`^RTSP/1\.0 \d{3}`, 'RTSP/1.0 400 Bad Request\r\n'),
  protocol('sip', String.raw`^SIP/2\.0 \d{3}`, 'SIP/2.0 400 Bad Request\r\n'),
  raw('sip')(
    'protocol.kamailio',
    'Kamailio',
    'kamailio:kamailio',
    String.raw`(?m)^Server: kamailio \(<v>`,
    'SIP/2.0 200 OK\r\nServer: kamailio (5.6.3 (x86_64/linux))\r\n',
    '5.6.3',
  ),
  protocol('amqp', String.raw`^AMQP\x00\x00\x09\x01`, 'AMQP\x00\x00\x09\x01'),
  protocol('mqtt', String.raw`^\x20\x02[\x00\x01][\x00-\x05]`, ' \x02\x00\x00', { certainty: 0.7 }),
  protocol('smb', String.raw`^\x00(?s:.){3}[\xfe\xff]SMB`, '\x00\x00\x00E\xffSMBr'),
  protocol(
    'rdp',
    String.raw`^\x03\x00\x00[\x0b-\x20][\x06-\x1b]\xd0`,
    '\x03\x00\x00\x13\x0e\xd0\x00\x00\x124\x00',
  ),
  protocol(
    'mssql',
    String.raw`^\x04\x01\x00(?s:.)\x00\x00[\x00\x01]\x00(?s:.){0,64}\xff`,
    '\x04\x01\x00%\x00\x00\x01\x00\x00\x00\x15\x00\x06\xff',
  ),
  protocol(
    'oracle',
    String.raw`\(DESCRIPTION=\((?:TMP=|ERR=|VSNNUM=)`,
    '\x00e\x00\x00\x04\x00\x00\x00"\x00\x00Y(DESCRIPTION=(TMP=)(VSNNUM=186647040)',
    { service: 'oracle-tns' },
  ),
  protocol(
    'mongodb',
    String.raw`^(?s:.){4}(?s:.){8}(?:\x01\x00\x00\x00|\xdd\x07\x00\x00)`,
    ';\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00',
    { certainty: 0.7 },
  ),
  protocol(
    'ldap',
    String.raw`^\x30(?s:.){1,5}\x02\x01[\x00-\x7f][\x61\x64\x65\x78]`,
    '0\x0c\x02\x01\x01a\x07\n\x01\x00',
  ),
  protocol(
    'nntp',
    '^20[01] .{0,256}(?:NNTP|InterNetNews|INN |[Nn]ews)',
    '200 news.example InterNetNews NNRP server INN 2.7.0 ready (posting ok)\r\n',
  ),
  raw('nntp', 0.97)(
    'protocol.leafnode',
    ...products.leafnode,
    '^20[01] Leafnode NNTP [Dd]aemon, version <v>',
    '200 Leafnode NNTP Daemon, version 1.12.0 running at host\r\n',
    '1.12.0',
  ),
  raw('nntp')(
    'protocol.inn',
    ...products.inn,
    'InterNetNews (?:NNRP )?server INN <v>',
    '200 news.example InterNetNews NNRP server INN 2.7.0 ready (posting ok)\r\n',
    '2.7.0',
  ),
  raw('irc', 0.7)(
    'protocol.irc',
    null,
    null,
    String.raw`^(?::[^ \r\n]{1,255} (?:NOTICE (?:AUTH|\*) :|(?:00[1-5]|421|43[1-7]|451|46[1-5]) )|NOTICE (?:AUTH|\*) :|ERROR :)`,
    [
      { text: ':irc.example NOTICE * :*** Looking up your hostname\r\n' },
      { text: 'ERROR :Closing connection\r\n' },
    ],
  ),
  raw('irc')(
    'protocol.ngircd',
    ...products.ngircd,
    'ngircd[- ]<v>',
    ':irc.lab.test 004 x irc.lab.test ngircd-26.1 abBcCFiIoqrRswx\r\n',
    '26.1',
  ),
  protocol(
    'xmpp',
    String.raw`<stream:stream[^>]{0,512}xmlns=['\x22]jabber:client['\x22]`,
    "<?xml version='1.0'?><stream:stream xml:lang='en' xmlns='jabber:client' version='1.0'>",
  ),
  protocol(
    'xmpp-server',
    String.raw`<stream:stream[^>]{0,512}xmlns=['\x22]jabber:server['\x22]`,
    "<?xml version='1.0'?><stream:stream xmlns='jabber:server' version='1.0'>",
  ),
  raw('dict', 0.97)(
    'protocol.dict',
    'dictd',
    'dictd:dictd',
    '^220 [^ ]+ dictd <v>',
    '220 host dictd 1.13.1/rf on Linux 6.1.0 <auth.mime> <1.2.3@host>\r\n',
    '1.13.1',
  ),
  // The number is the protocol version, not that of the program.
  raw('mpd', 0.9)(
    'protocol.mpd',
    'Music Player Daemon',
    'musicpd:mpd',
    String.raw`^OK MPD \d+(?:\.\d+)*`,
    'OK MPD 0.23.5\n',
  ),
  raw('munin')(
    'protocol.munin',
    ...products.munin,
    String.raw`^# munin node at [^\n]*\n(?:munins node on [^ ]+ version: <v>)?`,
    [
      { text: '# munin node at host.example\n', version: null },
      {
        text: '# munin node at host.example\nmunins node on host.example version: 2.0.73\n',
        version: '2.0.73',
      },
    ],
  ),
  raw('zookeeper', 0.97)(
    'protocol.zookeeper',
    'ZooKeeper',
    'apache:zookeeper',
    String.raw`(?m)^Zookeeper version: (?P<version>\d+\.\d+\.\d+)`,
    'Zookeeper version: 3.8.0-5a02a05, built on 2022-02-25\n',
    '3.8.0',
  ),
  protocol('socks5', String.raw`^\x05[\x00-\x02\xff]$`, '\x05\xff', { certainty: 0.6 }),
  protocol(
    'x11',
    String.raw`^\x00(?s:.)\x0b\x00\x00\x00`,
    '\x00\x16\x0b\x00\x00\x00\x06\x00No protocol specified\n',
    { certainty: 0.7 },
  ),
  raw('gearman', 0.85)(
    'protocol.gearman',
    ...products.gearman,
    String.raw`^\x00RES\x00\x00\x00|^ERR unknown_command Unknown\+server\+command`,
    [{ text: 'ERR unknown_command Unknown+server+command\n' }],
  ),
  rows('gearman', 'gearman.version')(
    'protocol.gearman-version',
    ...products.gearman,
    String.raw`^OK (?P<version>\d+(?:\.\d+)+)`,
    'OK 1.1.20+ds',
    '1.1.20',
  ),
  raw('git', 0.8)('protocol.git', ...products.git, '^[0-9a-f]{4}ERR (?:access denied|no such repository)', [
    { text: '0022ERR access denied or repository\n' },
  ]),
  protocol(
    'svn',
    String.raw`^\( success \( \d+ \d+ \(`,
    '( success ( 2 2 ( ) ( edit-pipeline svndiff1 ) ) ) ',
  ),
  protocol('finger-ident', String.raw`^\d+ ?, ?\d+ ?: ?ERROR ?:`, '0, 0 : ERROR : INVALID-PORT\r\n', {
    service: 'ident',
  }),
  protocol(
    'bgp',
    String.raw`^\xff{16}\x00[\x13-\xff][\x01-\x05]`,
    '\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x1d\x01\x04',
  ),
  protocol('tls-alert', String.raw`^\x15\x03[\x00-\x04]\x00\x02[\x01\x02]`, '\x15\x03\x01\x00\x02\x02\n', {
    service: 'tls',
    certainty: 0.6,
  }),
  protocol('jdwp', '^JDWP-Handshake', 'JDWP-Handshake'),
  raw('asterisk-manager').prefix(
    'protocol.asterisk-manager',
    'Asterisk Call Manager',
    'digium',
    'Asterisk Call Manager/5.0.2\r\n',
    '5.0.2',
  ),
  raw('openvpn-management')(
    'protocol.openvpn-management',
    ...products.openvpn,
    '^>INFO:OpenVPN Management Interface',
    '>INFO:OpenVPN Management Interface Version 3 -- type help for more info\r\n',
  ),
  raw('zabbix-agent', 0.85)('protocol.zabbix', 'Zabbix agent', 'zabbix', String.raw`^ZBXD[\x01\x03]`, [
    { text: 'ZBXD\x01\x00\x00\x00\x00\x00\x00\x00\x00' },
  ]),
  protocol('ajp', String.raw`^AB\x00\x01\x09`, 'AB\x00\x01\x09', { service: 'ajp13' }),
];
