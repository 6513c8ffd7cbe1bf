import { hostHeader } from '../requests/http-request.ts';
import { withLength } from '../requests/request-bytes.ts';
import { greetingProbe, type Probe, requestProbe } from './probe.ts';

/** Probes of queues, caches, proxies and runtime systems with their own protocols. */

/** Queries the Carbon cache for a nonexistent metric: a length-prefixed pickle of plain strings. */
function carbonQuery(): Buffer {
  const pickle = Buffer.from(
    "(dp0\nS'type'\np1\nS'cache-query'\np2\nsS'metric'\np3\nS'portolan'\np4\ns.",
    'latin1',
  );
  return withLength(pickle);
}

/** Ping message to the monitor. It responds once the message is complete, when the client half-closes. */
const xymon: Probe = {
  name: 'xymon',
  service: 'xymon',
  ports: [1984],
  greeting: null,
  steps: [{ send: 'ping', answer: 'all', last: true }],
};

/** HANDLE_PING of RPyC: a tuple of request, number, handler and a text that the server echoes. */
function rpycPing(): Buffer {
  const body = Buffer.from('\x12QQ\x11Q\x11R\x10\x11Q\x08\x0e\x08portolan', 'latin1');
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body, Buffer.from('\n')]);
}

export const backendProbes: readonly Probe[] = [
  // PeerProperties of RabbitMQ's stream protocol, version 1: key, version, correlation id, no client properties.
  requestProbe(
    'rabbitmq-stream',
    [5552],
    Buffer.from([0, 0, 0, 12, 0, 0x11, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]),
    'counted',
  ),
  // Two bytes that are not a Ruby object: the server reports the format it expects and calls nothing.
  requestProbe('druby', [], Buffer.from('\0\0\0\x02PO', 'latin1'), 'all', { alsoPorts: [8787, 9000] }),
  // Handshake of a Serf RPC session, version 1.
  requestProbe(
    'serf',
    [7373],
    Buffer.from('\x82\xa7Command\xa9handshake\xa3Seq\0\x81\xa7Version\x01', 'latin1'),
    'all',
  ),
  // A HyperSQL server that receives nothing for a second identifies itself.
  greetingProbe('hsqldb', [9001], 'line'),
  // RFC 3507 section 4.10.
  requestProbe(
    'icap',
    [1344],
    (host, _said, port) => {
      const authority = hostHeader(host, port);
      return `OPTIONS icap://${authority}/ ICAP/1.0\r\nHost: ${authority}\r\nEncapsulated: null-body=0\r\n\r\n`;
    },
    'head',
  ),
  // The Varnish management port greets; `banner` repeats the greeting, with the version if no login is required.
  requestProbe('varnish-cli', [6082], 'banner\n', 'all', { greeting: 'line', farewell: 'quit\n' }),
  requestProbe('carbon-cache', [7002], carbonQuery(), 'counted'),
  xymon,
  // Smart protocol version of a Bazaar or Breezy server.
  requestProbe('bzr', [4155], 'hello\n', 'line'),
  requestProbe('rpyc', [18_812, 18_861], rpycPing(), 'all'),
];
