import { ber, integer, sequence } from '../requests/ber.ts';
import { httpRequestFor } from '../requests/http-request.ts';
import { ntlmNegotiation, rpcCall } from '../requests/request-bytes.ts';
import { type Probe, requestProbe } from './probe.ts';

/** Probes of remote access, tunnels, control ports and consoles. */

export const infrastructureProbes: readonly Probe[] = [
  // P_CONTROL_HARD_RESET_CLIENT_V2 with its length prefix: session id, no acknowledgments, packet 0.
  requestProbe('openvpn', [1194], Buffer.from('\0\x0e\x38PORTOLAN\0\0\0\0\0', 'latin1'), 'dns'),
  // The management interface of OpenVPN greets; then the probe reads the version.
  requestProbe('openvpn-management', [7505], 'version\n', 'line', { greeting: 'line', farewell: 'quit\n' }),
  // The control port of Tor reports its version before a login (control-spec section 3.21).
  requestProbe('tor-control', [9051, 9151], 'PROTOCOLINFO 1\r\n', 'reply', { farewell: 'QUIT\r\n' }),
  // The console server greets with `ok`; commands that need no login.
  requestProbe('conserver', [782, 3109], 'help\r\n', 'all', { greeting: 'line' }),
];

/** ONC RPC programs to call, in this order; the version does not affect whether a program is available. */
export const rpcPrograms: readonly { program: number; name: string }[] = [
  { program: 100_005, name: 'mountd' },
  { program: 100_024, name: 'status' },
  { program: 100_021, name: 'nlockmgr' },
  { program: 100_003, name: 'nfs' },
  { program: 100_011, name: 'rquotad' },
  { program: 100_004, name: 'ypserv' },
  { program: 100_007, name: 'ypbind' },
  { program: 2112, name: 'kadmin' },
  { program: 100_001, name: 'rstatd' },
  { program: 100_002, name: 'rusersd' },
  { program: 100_068, name: 'cmsd' },
  { program: 100_083, name: 'ttdbserverd' },
];

/** PROG_UNAVAIL reply to the call. */
const notHere = /^[\x80-\xff]\0\0\x18PORT\0\0\0\x01\0{4}[^]{8}\0\0\0\x01$/;

/** Identifies an ONC RPC program other than the port mapper. */
const rpcProgram: Probe = {
  name: 'rpc-program',
  service: 'rpcbind',
  ports: [],
  greeting: null,
  steps: rpcPrograms.map(({ program }) => ({
    send: rpcCall(program, 1, 0),
    answer: 'rpc',
    proceed: notHere,
  })),
  after: { answer: notHere },
};

/** TSRequest of CredSSP (MS-CSSP section 2.2.1) with the first message of NTLM: no name, no password. */
function credSsp(): Buffer {
  const token = sequence(ber(0xa0, ber(0x04, ntlmNegotiation())));
  return sequence(ber(0xa0, integer(2)), ber(0xa1, sequence(token)));
}

/** Sent once the service is known. */
export const furtherInfrastructureProbes: readonly Probe[] = [
  rpcProgram,
  // An HTTP request to a SOCKS proxy: Tor identifies itself.
  requestProbe('socks-http', [], httpRequestFor('/'), 'http', {
    service: 'http',
    after: { answer: /^\x05[\0\x02\xff]$/ },
  }),
  // A connection request that offers TLS and network level authentication (MS-RDPBCGR section 2.2.1.1). A server that
  // selects the latter gets the first NTLM message inside TLS: its challenge contains names and version; nothing follows.
  requestProbe(
    'rdp-session',
    [],
    Buffer.from([3, 0, 0, 19, 14, 0xe0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 3, 0, 0, 0]),
    'tpkt',
    {
      service: 'rdp',
      upgrade: { offered: /^\x03\0\0\x13\x0e\xd0[^]{5}\x02[^]\x08\0\x02\0\0\0$/, request: null },
      inside: [{ send: credSsp(), answer: 'ber' }],
      after: { answer: /^\x03\0\0[\x0b\x13][\x06\x0e]\xd0/ },
    },
  ),
];
