import { ber, integer, sequence } from '../requests/ber.ts';
import { kerberosRequest, rootEntrySearch } from '../requests/directory-requests.ts';
import { ntlmNegotiation, withLength } from '../requests/request-bytes.ts';
import { smb2Message, smb2Negotiation } from './file-share.ts';
import { type Probe, requestProbe } from './probe.ts';

/** Probes of directories, RPC services, agents and small servers. */

/** Attributes of the root DSE that identify the vendor of a directory (RFC 3045, RFC 4512 section 5.1, MS-ADTS). */
const ldap: Probe = {
  name: 'ldap',
  service: 'ldap',
  ports: [389, 636, 3268, 3269, 1389, 10_389],
  greeting: null,
  steps: [
    {
      send: rootEntrySearch(
        'objectClass',
        'vendorName',
        'vendorVersion',
        'namingContexts',
        'supportedLDAPVersion',
        'supportedSASLMechanisms',
        'supportedExtension',
        'domainControllerFunctionality',
        'dnsHostName',
      ),
      answer: 'ldap',
    },
  ],
  upgrade: {
    offered: /1\.3\.6\.1\.4\.1\.1466\.20037/,
    request: {
      send: startTls().toString('latin1'),
      answer: 'ldap',
      // The extended response with the result code 0.
      accepted: /^\x30[^]{1,6}\x02\x01\x02\x78[^]{1,5}\x0a\x01\0/,
    },
  },
};

/** The extended request of RFC 4511 section 4.14.1, message 2. */
function startTls(): Buffer {
  return sequence(integer(2), ber(0x77, ber(0x80, Buffer.from('1.3.6.1.4.1.1466.20037', 'latin1'))));
}

/** RFC 1002 section 4.3.2: a session with any file server on the port (`*SMBSERVER`), under a generic name. */
function netbiosSession(): Buffer {
  const name = (text: string) => {
    const letters = [...Buffer.from(text.padEnd(16), 'latin1')].flatMap((byte) => [
      0x41 + (byte >> 4),
      0x41 + (byte & 15),
    ]);
    return [32, ...letters, 0];
  };
  const body = [...name('*SMBSERVER'), ...name('PORTOLAN')];
  return Buffer.from([0x81, 0, 0, body.length, ...body]);
}

/**
 * MS-SMB2 section 2.2.5 with a NEGOTIATE_MESSAGE of NTLM (MS-NLMP section 2.2.1.1): no name, no password. The server
 * responds with its challenge, which contains its names and version; nothing follows.
 */
function smb2Session(): Buffer {
  const ntlm = ntlmNegotiation();
  const body = Buffer.alloc(24);
  body.writeUInt16LE(25, 0);
  body[3] = 1;
  body.writeUInt16LE(64 + 24, 12);
  body.writeUInt16LE(ntlm.length, 14);
  return smb2Message(1, 1, Buffer.concat([body, ntlm]));
}

/** The same inside a NetBIOS session, on the older port. */
const netbios: Probe = {
  name: 'netbios-ssn',
  service: 'smb',
  ports: [139],
  greeting: null,
  steps: [
    { send: netbiosSession(), answer: 'framed', proceed: /^\x82/ },
    { send: smb2Negotiation(), answer: 'framed', proceed: /^\0[^]{3}\xfeSMB/ },
    { send: smb2Session(), answer: 'framed' },
  ],
};

/** Names and version in the NTLM challenge of an SMB server. */
const smbSession: Probe = {
  name: 'smb-session',
  service: 'smb',
  ports: [],
  greeting: null,
  steps: [
    { send: smb2Negotiation(), answer: 'framed', proceed: /^\0[^]{3}\xfeSMB/ },
    { send: smb2Session(), answer: 'framed' },
  ],
  after: { answer: /^\0[^]{3}[\xfe\xff]SMB/ },
};

/** Bind to the endpoint mapper, C706 section 12.6.4.3; calls nothing. */
function rpcBind(): Buffer {
  const endpointMapper = '0883afe11f5dc91191a408002b14a0fa';
  const transferSyntax = '045d888aeb1cc9119fe808002b104860';
  return Buffer.from(
    `05000b0310000000480000000100000000100010000000000100000000000100${endpointMapper}03000000${transferSyntax}02000000`,
    'hex',
  );
}

function packetLine(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

/** Forward request of the Apache JServ Protocol 1.3: GET of a nonexistent page, whose error names the server. */
function ajpMissingPage(host: string): string {
  const text = (value: string) => `\0${String.fromCharCode(value.length)}${value}\0`;
  const name = host.slice(0, 100);
  const line = `\x02\x02${text('HTTP/1.1')}${text('/portolan-no-such-page')}`;
  const body = `${line}${text('0.0.0.0')}\xff\xff${text(name)}\0\x50\0\0\x01\xa0\x0b${text(name)}\xff`;
  return `\x12\x34${String.fromCharCode(body.length >> 8, body.length & 0xff)}${body}`;
}

/** CPing of the Apache JServ Protocol 1.3, then a nonexistent page. */
const ajp: Probe = {
  name: 'ajp',
  service: 'ajp13',
  ports: [8009],
  greeting: null,
  steps: [
    { send: Buffer.from([0x12, 0x34, 0, 1, 10]), answer: 'five', proceed: /^AB\0\x01\x09/ },
    { send: ajpMissingPage, answer: 'ajp' },
  ],
};

/** Start-Control-Connection-Request, RFC 2637 section 2.1. */
function pptpStart(): Buffer {
  const request = Buffer.alloc(156);
  request.writeUInt16BE(156, 0);
  request.writeUInt16BE(1, 2);
  request.writeUInt32BE(0x1a2b3c4d, 4);
  request.writeUInt16BE(1, 8);
  request.writeUInt16BE(0x0100, 12);
  request.writeUInt32BE(1, 16);
  request.writeUInt32BE(1, 20);
  request.write('portolan', 28, 'latin1');
  return request;
}

export const networkProbes: readonly Probe[] = [
  ldap,
  // RFC 4120 section 7.2.2: over TCP with a length prefix.
  requestProbe('kerberos', [88, 750], withLength(kerberosRequest()), 'counted'),
  netbios,
  requestProbe('msrpc', [135, 593], rpcBind(), 'dcerpc'),
  // RFC 1928 section 3: offers only the method without a login.
  requestProbe('socks5', [1080, 1081, 9050, 9150], Buffer.from([5, 1, 0]), 'two'),
  // Git pack protocol, version 2: the capabilities of a repository in the root folder include the server version; usually
  // there is none, and the server responds with an error.
  requestProbe(
    'git',
    [9418],
    (host) => packetLine(`git-upload-pack /\0host=${host}\0\0version=2\0`),
    'packet-lines',
  ),
  requestProbe('gearman', [4730], 'version\n', 'line'),
  requestProbe('munin', [4949], 'version\n', 'line', { greeting: 'line', farewell: 'quit\n' }),
  ajp,
  // Header of the Java RMI wire protocol, section 10.2: stream protocol.
  requestProbe('java-rmi', [1098, 1099, 1199, 11_099, 9010], Buffer.from('JRMI\0\x02K', 'latin1'), 'all'),
  // NAMES_REQ of the Erlang port mapper: the registered nodes.
  requestProbe('epmd', [4369], Buffer.from([0, 1, 0x6e]), 'all'),
  requestProbe('pptp', [1723], pptpStart(), 'tns'),
  // RFC 1413: a pair of ports without a connection.
  requestProbe('ident', [113], '1, 1\r\n', 'line'),
  requestProbe('nut', [3493], 'VER\n', 'line', { farewell: 'LOGOUT\n' }),
  // Passive check of the agent's own version, Zabbix protocol 1.
  requestProbe('zabbix-agent', [10_050], 'ZBXD\x01\x0d\0\0\0\0\0\0\0agent.version', 'all'),
];

/** Sent once the service is known. */
export const furtherNetworkProbes: readonly Probe[] = [smbSession];
