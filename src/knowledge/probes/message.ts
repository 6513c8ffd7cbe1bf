import { randomBytes } from 'node:crypto';
import { sipOptions } from '../requests/sip-request.ts';
import { type Probe, requestProbe, type Upgrade } from './probe.ts';

/** Probes of message brokers, chat, telephony and media servers. */

/** MQTT 3.1.1 section 3.1: a clean session without name, user or will. */
const mqttConnect = Buffer.from('\x10\x0c\0\x04MQTT\x04\x02\0\x0a\0\0', 'latin1');

/** Section 3.8: subscribes to the retained message with the broker version. */
function mqttSubscribe(): Buffer {
  const topic = Buffer.from('$SYS/broker/version', 'latin1');
  const body = Buffer.concat([Buffer.from([0, 1, 0, topic.length]), topic, Buffer.from([0])]);
  return Buffer.concat([Buffer.from([0x82, body.length]), body]);
}

const mqtt: Probe = {
  name: 'mqtt',
  service: 'mqtt',
  ports: [1883, 8883, 1884],
  greeting: null,
  steps: [
    { send: mqttConnect, answer: 'mqtt', proceed: /^\x20\x02[^]\0/ },
    { send: mqttSubscribe(), answer: 'mqtt-publish' },
  ],
  farewell: '\xe0\0',
};

/** RFC 6120 section 4.2: a stream to an unknown domain; the wording of the error identifies the server. */
const xmppStream = (kind: 'client' | 'server') =>
  `<?xml version='1.0'?><stream:stream to='portolan.invalid' xmlns='jabber:${kind}' ` +
  "xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>";

/** RFC 6120 section 5.4.2. */
const xmppTls: Upgrade = {
  offered: /<starttls xmlns=['"]urn:ietf:params:xml:ns:xmpp-tls['"]/,
  request: {
    send: "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
    answer: 'xml-stream',
    accepted: /<proceed /,
  },
};

/**
 * RFC 2812 section 3.1: registers without a password under a random nickname, because the server reports its version
 * only to registered clients; requests it and quits. Some servers first require a PING reply.
 */
const irc: Probe = {
  name: 'irc',
  service: 'irc',
  ports: [6667, 6697, 6660, 6661, 6662, 6663, 6664, 6665, 6666, 6668, 6669, 194, 7000],
  greeting: 'line',
  steps: [
    {
      send: () => {
        const name = `p${randomBytes(4).toString('hex')}`;
        return `NICK ${name}\r\nUSER ${name} 0 * :portolan\r\n`;
      },
      answer: 'irc',
    },
    {
      send: (_host, said) => {
        const cookie = /^(?::\S{1,255} )?PING :?([^\r\n]{1,100})/m.exec(said.toString('latin1'))?.[1];
        return `${cookie === undefined ? '' : `PONG :${cookie}\r\n`}VERSION\r\nQUIT\r\n`;
      },
      answer: 'all',
    },
  ],
};

export const messageProbes: readonly Probe[] = [
  mqtt,
  // Protocol header of AMQP 0-9-1, section 4.2.2: the server starts with its properties.
  requestProbe('amqp', [5672, 5671], Buffer.from('AMQP\0\0\x09\x01', 'latin1'), 'amqp'),
  requestProbe('xmpp', [5222, 5223, 6523], xmppStream('client'), 'xml-stream', {
    upgrade: xmppTls,
    farewell: '</stream:stream>',
  }),
  requestProbe('xmpp-server', [5269], xmppStream('server'), 'xml-stream', {
    upgrade: xmppTls,
    farewell: '</stream:stream>',
  }),
  irc,
  requestProbe('sip', [5060, 5061, 5062], () => sipOptions('TCP'), 'head'),
  // RFC 2326 section 10.1.
  requestProbe('rtsp', [554, 8554, 10_554, 7070], 'OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n', 'head'),
];
