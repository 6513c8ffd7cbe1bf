/** Start of responses by service; the first matching pattern identifies the service. */
const openings: readonly { service: string; pattern: RegExp }[] = [
  { service: 'ssh', pattern: /^(?:[^\n]{0,512}\n){0,20}?SSH-\d/ },
  { service: 'http', pattern: /^HTTP\/\d/ },
  { service: 'shoutcast', pattern: /^ICY \d{3} / },
  { service: 'ftp', pattern: /^220[- ][^\0]{0,2000}?(?:ftp|filezilla)/i },
  { service: 'svdrp', pattern: /^220 \S{1,255} SVDRP VideoDiskRecorder / },
  { service: 'smtp', pattern: /^(?:220|421|554)[- ][^\0]{0,2000}?(?:smtp|mail|postfix|exim)/i },
  { service: 'imap', pattern: /^\* (?:OK|PREAUTH|BYE)\b/i },
  { service: 'pop3', pattern: /^\+OK\b/ },
  {
    service: 'redis',
    pattern:
      /^(?:\$\d+\r\n# Server|-NOAUTH |-DENIED |-ERR (?:unknown command|wrong number of arg|operation not perm|Protocol error))/,
  },
  {
    service: 'memcached',
    pattern: /^(?:VERSION \d|ERROR\r\n|CLIENT_ERROR unauthenticated\r\n|\x81\x0b\0\0\0\0[^]{18}\d)/,
  },
  // Protocol version 10 with a version text, or an error packet (host not allowed).
  { service: 'mysql', pattern: /^[^]{3}[\0-\x02](?:\x0a[\d.][^\0]*\0|\xff[^]{2}(?:#|Host|Too many))/ },
  { service: 'postgresql', pattern: /^(?:[SN]$|[SN]?E\0\0[^][^]S(?:FATAL|ERROR)|[SN]?R\0\0\0)/ },
  { service: 'domain', pattern: /^[^]{2}\x50\x4f[\x80-\xff]/ },
  { service: 'vnc', pattern: /^RFB \d{3}\.\d{3}\n/ },
  { service: 'rsync', pattern: /^@RSYNCD: / },
  { service: 'telnet', pattern: /^\xff[\xfb-\xfe]/ },
  {
    service: 'nntp',
    pattern: /^(?:20[01] .*(?:nntp|news|\binn\b|\bpost(?:ing)?\b)|(?:400|50[23]) .*\b(?:nntp|innd)\b)/i,
  },
  { service: 'sieve', pattern: /^"IMPLEMENTATION" "/ },
  { service: 'spamd', pattern: /^R?SPAMD\/\d\.\d \d/ },
  { service: 'clamd', pattern: /^(?:ClamAV \d|UNKNOWN COMMAND\n$)/ },
  { service: 'lirc', pattern: /^BEGIN\n[^\n]{0,512}\n(?:SUCCESS|ERROR)\n/ },
  { service: 'milter', pattern: /^\0\0\0\x0dO\0\0\0[\x02-\x06]/ },
  { service: 'stun', pattern: /^\x01[\x01\x11][^]{2}\x21\x12\xa4\x42/ },
  { service: 'afp', pattern: /^\x01\x03[^]{2}\0\0\0\0\0\0[^]{2}\0\0\0\0/ },
  { service: 'mumble', pattern: /^\0\0\0\0[^]{2}\x08[^]{1,5}\x12/ },
  { service: 'ident', pattern: /^\d{1,5} ?, ?\d{1,5} ?: ?(?:ERROR|USERID) ?:/ },
  {
    service: 'gopher',
    pattern: /^[0-9+gIThis:;<dp][^\t\r\n]{0,512}\t[^\t\r\n]{0,512}\t[\w.-]{1,255}\t\d{1,5}(?:\t\+)?\r?\n/,
  },
  { service: 'cvspserver', pattern: /^cvs \[(?:pserver|server) aborted\]: / },
  { service: 'svn', pattern: /^\( success \( \d+ \d+ \( / },
  // Before RDP, which begins alike: responses that repeat Portolan's own reference.
  { service: 'iso-tsap', pattern: /^\x03\0[^]{3}[\xd0\x80]PO/ },
  { service: 'rdp', pattern: /^\x03\0\0[\x0b\x13][\x06\x0e]\xd0/ },
  { service: 'smb', pattern: /^(?:\x82\0\0\0)?\0[^]{3}[\xfe\xff]SMB/ },
  // Only replies to Portolan's own calls.
  { service: 'rpcbind', pattern: /^[\x80-\xff][^]{3}PORT\0\0\0\x01/ },
  { service: 'mongodb', pattern: /^[^]{8}PORT\xdd\x07\0\0/ },
  { service: 'x11', pattern: /^[\0-\x02][^]\x0b\0[\0-\x0a]\0/ },
  { service: 'rtsp', pattern: /^RTSP\/\d/ },
  { service: 'sip', pattern: /^SIP\/2\.0 \d/ },
  { service: 'amqp', pattern: /^(?:AMQP\0|AMQP\x01|\x01\0\0[^]{4}\0\x0a\0\x0a)/ },
  { service: 'mqtt', pattern: /^\x20\x02[\0\x01][\0-\x05]/ },
  { service: 'mssql', pattern: /^\x04\x01[^]{2}\0\0[\0\x01]\0\0\0/ },
  {
    service: 'oracle-tns',
    pattern: /^\0[^][^]{2}[\x02\x04\x05\x0b][\0-\x20]\0\0|\(DESCRIPTION=\((?:TMP|ERR|VSNNUM)=/,
  },
  { service: 'cassandra', pattern: /^[\x81-\x86]\0\0\0[\0\x06]|^[\x83-\x86][^]{3}[\0\x06]\0\0/ },
  { service: 'kafka', pattern: /^\0\0[^]{2}\0\0PO\0/ },
  { service: 'zookeeper', pattern: /^(?:Zookeeper version: |srvr is not executed|This ZooKeeper instance)/ },
  { service: 'firebird', pattern: /^\0\0\0(?:[\x03\x62\x5e]\0\0|\x04$)/ },
  { service: 'beanstalkd', pattern: /^(?:OK \d+\r\n---\n|UNKNOWN_COMMAND\r\n)/ },
  { service: 'ldap', pattern: /^\x30(?:[^]|\x81[^]|\x82[^]{2}|\x84[^]{4})\x02\x01[^][\x61\x64\x65\x78]/ },
  { service: 'kerberos', pattern: /^\0\0[^]{2}[\x7e\x6b]/ },
  { service: 'msrpc', pattern: /^\x05\0[\x0c\x0d][\x03\x07]\x10\0\0\0/ },
  { service: 'xmpp', pattern: /<stream:stream[^<>]*jabber:client/ },
  { service: 'xmpp-server', pattern: /<stream:stream[^<>]*jabber:server/ },
  {
    service: 'irc',
    pattern: /^(?::[^ \r\n]{1,255} (?:NOTICE |00[1-5] |4[2-6]\d )|NOTICE (?:AUTH|\*) :|ERROR :)/,
  },
  { service: 'git', pattern: /^[0-9a-f]{4}(?:ERR |version [12]\n|[0-9a-f]{40} [^\n]*\0)/ },
  { service: 'gearman', pattern: /^(?:ERR unknown_command |OK \d+\.\d+\.\d+|\0RES\0\0\0)/i },
  { service: 'munin', pattern: /^# munin node at / },
  { service: 'ajp13', pattern: /^AB\0\x01\x09/ },
  { service: 'java-rmi', pattern: /^N\0[^]/ },
  { service: 'pptp', pattern: /^\0\x9c\0\x01\x1a\x2b\x3c\x4d/ },
  { service: 'nut', pattern: /^Network UPS Tools |^ERR UNKNOWN-COMMAND/ },
  { service: 'zabbix-agent', pattern: /^ZBXD[\x01\x03]/ },
  { service: 'socks5', pattern: /^\x05[\0\xff]$/ },
  { service: 'nrpe', pattern: /^\0[\x02-\x04]\0\x02[^]{4}\0[\0-\x03]/ },
  { service: 'fastcgi', pattern: /^\x01[\x0a\x0b]\0\0[^]{4}/ },
  { service: 'drda', pattern: /^[^]{2}\xd0[\x02\x03\x42\x43]\0\x01[^]{2}[\x12\x14]/ },
  { service: 'jdwp', pattern: /^JDWP-Handshake/ },
  { service: 'iscsi', pattern: /^[\x23\x3f][^]{3}\0[^]{43}/ },
  { service: 'apcupsd', pattern: /^\0[^]APC {6}: \d/ },
  { service: 'lcdproc', pattern: /^(?:connect LCDproc |huh\? )/ },
  { service: 'ovsdb', pattern: /^\{(?=[^]{0,4096}"id": ?"portolan")[^]{0,4096}"result": ?\[/ },
  { service: 'libvirt', pattern: /^\0\0[^]{2}\x20\0\x80\x86\0\0\0\x01/ },
  { service: 'corosync-qnetd', pattern: /^\0[\x01\x03]\0\0\0[^]\0/ },
  { service: 'gqtp', pattern: /^\xc7[^]{23}/ },
  { service: 'stomp', pattern: /^(?:ERROR|CONNECTED)\r?\n(?:[a-z-]+:|\r?\n)/ },
  { service: 'erlang-node', pattern: /^\0[^]s(?:ok|ok_simultaneous|nok|not_allowed|alive)(?:\0[^]N|$)/ },
  { service: 'openvpn', pattern: /^\0[\x0e-\x40]\x40[^]{8}/ },
  { service: 'openvpn-management', pattern: /^>INFO:OpenVPN Management/ },
  { service: 'modbus', pattern: /^PO\0\0\0[^][\x01\xff][\x2b\xab]/ },
  { service: 'ethernet-ip', pattern: /^\x63\0[^]{10}PORTOLAN/ },
  { service: 'iec-104', pattern: /^\x68\x04\x83\0\0\0/ },
  { service: 'dnp3', pattern: /^\x05\x64[^]{2}PO/ },
  { service: 'niagara-fox', pattern: /^fox a \d/ },
  { service: 'fins', pattern: /^FINS\0\0\0/ },
  { service: 'tor-control', pattern: /^(?:250-PROTOCOLINFO \d|514 Authentication required)/ },
  { service: 'conserver', pattern: /^ok\r\n(?:$|exit {3}disconnect)/ },
  { service: 'bzr', pattern: /^(?:ok|error)\x01/ },
  { service: 'xymon', pattern: /^(?:xymond|hobbitd) \d/ },
  { service: 'icap', pattern: /^ICAP\/1\.0 \d/ },
  { service: 'varnish-cli', pattern: /^(?:107|200) \d{1,7} +\n/ },
  { service: 'druby', pattern: /^\0\0\0\x03\x04\x08F/ },
  { service: 'rabbitmq-stream', pattern: /^\0\0[^]{2}\x80\x11\0\x01/ },
  { service: 'gpsd', pattern: /^\{"class":"VERSION"/ },
  { service: 'snapcast', pattern: /^(?:\{(?=[^]{0,4096}"snapserver":)|\x04\0POPO[^]{16}\x08\0\0\0)/ },
  { service: 'liquidsoap', pattern: /^(?:Liquidsoap \d|ERROR: unknown command, type "help" to get a list)/ },
  { service: 'ser2net', pattern: /^-> (?:$|version\r\n)/ },
  { service: 'hamlib', pattern: /^RPRT -\d+\n/ },
  { service: 'bzflag', pattern: /^BZFS\d{4}\0?$/ },
  { service: 'adc', pattern: /^ISUP ADBAS[E0]/ },
  { service: 'boinc', pattern: /^<boinc_gui_rpc_reply>/ },
  { service: 'festival', pattern: /^(?:ER\n|LP\n"[^]{1,100}ft_StUfF_key)/ },
  { service: 'i2p-sam', pattern: /^HELLO REPLY RESULT=/ },
];

/** Bytes of a response that identify its service. */
export const openingBytes = 4096;

/** The service that a response identifies, or null. */
export function serviceOf(bytes: Buffer): string | null {
  const text = bytes.toString('latin1', 0, openingBytes);
  return openings.find(({ pattern }) => pattern.test(text))?.service ?? null;
}

/** True for the response of a server that expected TLS: an alert record, or a text of nginx, Apache, Go or Jetty. */
export function wantsTls(bytes: Buffer): boolean {
  if (bytes[0] === 0x15 && bytes[1] === 0x03) return true;
  const text = bytes.toString('latin1', 0, openingBytes);
  return /plain HTTP request was sent to HTTPS|speaking plain HTTP to an SSL|HTTP request to an HTTPS server|requires TLS/i.test(
    text,
  );
}
