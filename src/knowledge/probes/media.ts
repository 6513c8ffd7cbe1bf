import { deflateSync, gzipSync } from 'node:zlib';
import { withLength } from '../requests/request-bytes.ts';
import { greetingProbe, type Probe, requestProbe } from './probe.ts';

/** Probes of music, video and game servers, file sharing and chat. */

/** Join request of an unknown client: the server rejects it with a text that names its version. */
function freecivRequest(): Buffer {
  const body = Buffer.from(`\x04portolan\0+portolan\0\0${'\0'.repeat(12)}`, 'latin1');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length + 2);
  return Buffer.concat([length, body]);
}

/** A version that no server accepts: the server lists those it does. */
function wesnothVersion(): Buffer {
  const packed = gzipSync(Buffer.from('[version]\n\tversion="0.0.0"\n[/version]\n', 'latin1'));
  return withLength(packed);
}

const wesnoth: Probe = {
  name: 'wesnoth',
  service: 'wesnoth',
  ports: [15_000],
  greeting: null,
  steps: [
    { send: Buffer.alloc(4), answer: 'eight', proceed: /^[^]{4}\0\0[^]{2}/ },
    { send: wesnothVersion(), answer: 'all' },
  ],
};

/** daemon.info, the only call that needs no login, in Deluge 2 framing. */
function delugeInformation(): Buffer {
  const call = Buffer.from('\xc1\xc4\x01\x8bdaemon.info\xc0\x66', 'latin1');
  const packed = deflateSync(call);
  const head = Buffer.from([1, 0, 0, 0, 0]);
  head.writeUInt32BE(packed.length, 1);
  return Buffer.concat([head, packed]);
}

export const mediaProbes: readonly Probe[] = [
  // Server status from the control port, which names program and version.
  requestProbe(
    'snapcast',
    [1705],
    '{"id":"portolan","jsonrpc":"2.0","method":"Server.GetStatus"}\r\n',
    'line',
  ),
  // A time message on the stream port, which a client may send before it identifies itself.
  requestProbe(
    'snapcast-stream',
    [1704],
    Buffer.from(`\x04\0PO${'\0'.repeat(18)}\x08\0\0\0${'\0'.repeat(8)}`, 'latin1'),
    'snapcast',
    { service: 'snapcast' },
  ),
  requestProbe('liquidsoap', [1234], 'version\r\n', 'closed-list', { farewell: 'quit\r\n' }),
  // The first messages of a client, RTMP 1.0 section 5.2: version 3, time zero, no client version.
  requestProbe('rtmp', [1935, 1936], Buffer.concat([Buffer.from([3]), Buffer.alloc(1536)]), 'rtmp'),
  // The server sends first, like a mail server.
  greetingProbe('svdrp', [6419], 'reply', { farewell: 'QUIT\r\n' }),
  // Reads a variable of the interpreter of the speech server.
  requestProbe('festival', [1314], 'festival_version\n', 'festival'),
  requestProbe('freeciv', [5556], freecivRequest(), 'all'),
  wesnoth,
  requestProbe('bzflag', [5154], 'BZFLAG\r\n\r\n', 'eight'),
  requestProbe('tetrinet', [31_457], 'version\xff', 'line'),
  // The extensions of a client, ADC 1.0 section 5.2: the hub sends its own and identifies itself; no login.
  requestProbe('adc', [1511, 2780], 'HSUP ADBASE ADTIGR\n', 'adc'),
  // Magic number without encryption or compression, and both protocols: the core selects one.
  requestProbe('quassel', [4242], Buffer.from('42b33f000000000280000001', 'hex'), 'word'),
  requestProbe('deluge', [58_846], delugeInformation(), 'deluge'),
  // Version exchange before a login; a host that rejects the client replies in the same form.
  requestProbe(
    'boinc',
    [31_416],
    '<boinc_gui_rpc_request>\n<exchange_versions/>\n</boinc_gui_rpc_request>\n\x03',
    'end-of-text',
  ),
];
