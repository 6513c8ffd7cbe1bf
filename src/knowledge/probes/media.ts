import { deflateSync, gzipSync } from 'node:zlib';
import type { Probe } from './probe.ts';

/** Probes of music, video and game servers, file sharing and chat. */

/** Server status from the control port, which names program and version. */
const snapcast: Probe = {
  name: 'snapcast',
  service: 'snapcast',
  ports: [1705],
  greeting: null,
  steps: [{ send: '{"id":"portolan","jsonrpc":"2.0","method":"Server.GetStatus"}\r\n', answer: 'line' }],
};

/** A time message on the stream port, which a client may send before it identifies itself. */
const snapcastStream: Probe = {
  name: 'snapcast-stream',
  service: 'snapcast',
  ports: [1704],
  greeting: null,
  steps: [
    {
      send: Buffer.from(`\x04\0PO${'\0'.repeat(18)}\x08\0\0\0${'\0'.repeat(8)}`, 'latin1'),
      answer: 'snapcast',
    },
  ],
};

const liquidsoap: Probe = {
  name: 'liquidsoap',
  service: 'liquidsoap',
  ports: [1234],
  greeting: null,
  steps: [{ send: 'version\r\n', answer: 'closed-list' }],
  farewell: 'quit\r\n',
};

/** The first messages of a client, RTMP 1.0 section 5.2: version 3, time zero, no client version. */
const rtmp: Probe = {
  name: 'rtmp',
  service: 'rtmp',
  ports: [1935, 1936],
  greeting: null,
  steps: [{ send: Buffer.concat([Buffer.from([3]), Buffer.alloc(1536)]), answer: 'rtmp' }],
};

/** The server sends first, like a mail server. */
const svdrp: Probe = {
  name: 'svdrp',
  service: 'svdrp',
  ports: [6419],
  greeting: 'reply',
  steps: [],
  farewell: 'QUIT\r\n',
};

/** Reads a variable of the interpreter of the speech server. */
const festival: Probe = {
  name: 'festival',
  service: 'festival',
  ports: [1314],
  greeting: null,
  steps: [{ send: 'festival_version\n', answer: 'festival' }],
};

/** Join request of an unknown client: the server rejects it with a text that names its version. */
function freecivRequest(): Buffer {
  const body = Buffer.from(`\x04portolan\0+portolan\0\0${'\0'.repeat(12)}`, 'latin1');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length + 2);
  return Buffer.concat([length, body]);
}

const freeciv: Probe = {
  name: 'freeciv',
  service: 'freeciv',
  ports: [5556],
  greeting: null,
  steps: [{ send: freecivRequest(), answer: 'all' }],
};

/** A version that no server accepts: the server lists those it does. */
function wesnothVersion(): Buffer {
  const packed = gzipSync(Buffer.from('[version]\n\tversion="0.0.0"\n[/version]\n', 'latin1'));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(packed.length);
  return Buffer.concat([length, packed]);
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

const bzflag: Probe = {
  name: 'bzflag',
  service: 'bzflag',
  ports: [5154],
  greeting: null,
  steps: [{ send: 'BZFLAG\r\n\r\n', answer: 'eight' }],
};

const tetrinet: Probe = {
  name: 'tetrinet',
  service: 'tetrinet',
  ports: [31_457],
  greeting: null,
  steps: [{ send: 'version\xff', answer: 'line' }],
};

/** The extensions of a client, ADC 1.0 section 5.2: the hub sends its own and identifies itself; no login. */
const adc: Probe = {
  name: 'adc',
  service: 'adc',
  ports: [1511, 2780],
  greeting: null,
  steps: [{ send: 'HSUP ADBASE ADTIGR\n', answer: 'adc' }],
};

/** Magic number without encryption or compression, and both protocols: the core selects one. */
const quassel: Probe = {
  name: 'quassel',
  service: 'quassel',
  ports: [4242],
  greeting: null,
  steps: [{ send: Buffer.from('42b33f000000000280000001', 'hex'), answer: 'word' }],
};

/** daemon.info, the only call that needs no login, in Deluge 2 framing. */
function delugeInformation(): Buffer {
  const call = Buffer.from('\xc1\xc4\x01\x8bdaemon.info\xc0\x66', 'latin1');
  const packed = deflateSync(call);
  const head = Buffer.from([1, 0, 0, 0, 0]);
  head.writeUInt32BE(packed.length, 1);
  return Buffer.concat([head, packed]);
}

const deluge: Probe = {
  name: 'deluge',
  service: 'deluge',
  ports: [58_846],
  greeting: null,
  steps: [{ send: delugeInformation(), answer: 'deluge' }],
};

/** Version exchange before a login; a host that rejects the client replies in the same form. */
const boinc: Probe = {
  name: 'boinc',
  service: 'boinc',
  ports: [31_416],
  greeting: null,
  steps: [
    {
      send: '<boinc_gui_rpc_request>\n<exchange_versions/>\n</boinc_gui_rpc_request>\n\x03',
      answer: 'end-of-text',
    },
  ],
};

export const mediaProbes: readonly Probe[] = [
  snapcast,
  snapcastStream,
  liquidsoap,
  rtmp,
  svdrp,
  festival,
  freeciv,
  wesnoth,
  bzflag,
  tetrinet,
  adc,
  quassel,
  deluge,
  boinc,
];
