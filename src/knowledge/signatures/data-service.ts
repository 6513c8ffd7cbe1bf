import { products } from './product-names.ts';
import { rows } from './row.ts';
import type { Signature } from './signature.ts';

const raw = (service: string | null, certainty?: number) => rows(service, 'banner.raw', certainty);
const icap = raw('icap', 0.97);

/** Queues, caches, proxies and run-time systems with their own protocols. */
export const dataServiceSignatures: readonly Signature[] = [
  rows('rabbitmq-stream', 'rabbitmq.stream', 0.97).prefix(
    'rabbitmq.stream',
    ...products.rabbitmq,
    'RabbitMQ 3.10.8',
    '3.10.8',
  ),
  raw('stomp', 0.85)(
    'stomp.rabbitmq-login',
    ...products.rabbitmq,
    String.raw`^ERROR\r?\nmessage:[^\n]{1,64}\ncontent-type:text/plain\nversion:1\.0,1\.1,1\.2\ncontent-length:\d+\n\n`,
    'ERROR\nmessage:Illegal command\ncontent-type:text/plain\nversion:1.0,1.1,1.2\ncontent-length:35\n\nYou must log in using CONNECT first\x00\n',
  ),
  rows('postgresql', 'postgresql.blind-auth', 0.7).exact(
    'postgresql.h2',
    ...products.h2Database,
    'authentication request 3',
  ),
  raw('hsqldb', 0.97)(
    'hsqldb.listener',
    ...products.hsqldb,
    String.raw`^HSQLDB JDBC Network Listener\.`,
    'HSQLDB JDBC Network Listener.\nUse JDBC driver with Network Compatibility Version2.3.4.0 and a JDBC URL',
  ),
  // REPLY_UPDATE of the remote backend: its major version, 30 to 45 so far, with the UUID of the database at the end.
  raw('xapian', 0.85)(
    'xapian.remote',
    'Xapian',
    'xapian:xapian',
    String.raw`^\x00[\x20-\x7f][\x1e-\x2d][\x00-\x09](?s:.){1,24}[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`,
    '\x00,\x27\x01\x00\x00\x00\x00\x30\x0072d06a69-47ff-4267-96fc-06ada2356b2f',
  ),
  raw('rserve', 0.95)(
    'rserve.greeting',
    'Rserve',
    'rforge:rserve',
    String.raw`^Rsrv\d{4}QAP1`,
    'Rsrv0103QAP1\r\n\r\n--------------\r\n',
  ),
  raw('zmtp', 0.75)(
    'zmtp.greeting',
    'ZeroMQ',
    'zeromq:libzmq',
    String.raw`^\xff\x00{7}[\x01\x05]\x7f`,
    '\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f',
  ),
  raw('python-multiprocessing', 0.9)(
    'python.multiprocessing',
    'Python multiprocessing',
    'python:python',
    String.raw`^\x00\x00\x00[\x1f-\x7f]#CHALLENGE#`,
    '\x00\x00\x00\x1f#CHALLENGE#\xf5\x0b\xf0R\x82\xb8\x15\x02\xd1\xe7\xdaB\x9a\xe3C]\x07Q\xdf\xce',
  ),
  // Protocol version: 48 for 4, 501 and more for 5.
  raw('pyro', 0.95)('pyro.four', 'Pyro4', 'pyro', '^PYRO\\x00[\\x28-\\x30]', 'PYRO\x000\x00\x03'),
  raw('pyro', 0.95)('pyro.five', 'Pyro5', 'pyro', '^PYRO\\x01[\\xf5-\\xff]', 'PYRO\x01\xf6\x00\x03'),
  raw('perspective-broker', 0.95)(
    'twisted.perspective-broker',
    'Twisted Perspective Broker',
    'twisted:twisted',
    String.raw`^\x02\x80\x02\x82pb\x04\x82none`,
    '\x02\x80\x02\x82pb\x04\x82none',
  ),
  raw('druby', 0.9)(
    'druby.refusal',
    'dRuby',
    'ruby-lang:ruby',
    String.raw`^\x00\x00\x00[\x03\x04]\x04\x08F\x00\x00(?s:.){2}\x04\x08o:(?s:.){0,200}(?:format version 4\.8 required|DRb::DRb)`,
    '\x00\x00\x00\x03\x04\x08F\x00\x00\x03D\x04\x08o:\x0eTypeError\x08:\tmesg"_incompatible marshal file format (can\'t be read)\n\tformat version 4.8 required; 80.79 given',
  ),
  raw('java-object', 0.5)(
    'java.object-stream',
    'Java object stream',
    null,
    String.raw`^\xac\xed\x00\x05`,
    '\xac\xed\x00\x05',
  ),
  raw('serf', 0.9)(
    'serf.handshake',
    'Serf',
    'hashicorp:serf',
    String.raw`^\x82\xa5Error\xa0\xa3Seq\x00`,
    '\x82\xa5Error\xa0\xa3Seq\x00',
  ),
  raw('dask', 0.9)(
    'dask.handshake',
    'Dask distributed',
    'dask:dask',
    String.raw`^(?s:.){8,40}\xabcompression(?:[\xa0-\xbf]|\xc0)(?s:.){0,12}\xa6python\x93`,
    '=\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00-\x00\x00\x00\x00\x00\x00\x00\x83\xabcompression\xa3lz4\xa6python\x93\x03\x0b\x02\xafpickle-protocol\x05',
  ),
  icap(
    'icap.c-icap',
    'c-icap',
    'c-icap_project:c-icap',
    String.raw`^ICAP/1\.0 \d{3} (?s:.){0,600}\r\n(?:Server|Service): C-ICAP/<v>`,
    'ICAP/1.0 400 Bad request\r\nServer: C-ICAP/0.5.10\r\nConnection: close\r\n\r\n',
    '0.5.10',
  ),
  raw('icap', 0.5)(
    'icap.general',
    '{name}',
    null,
    String.raw`^ICAP/1\.0 \d{3} (?s:.){0,600}\r\nServer: (?P<name>[A-Za-z][A-Za-z0-9 -]{1,40})(?:/<v>)?`,
    'ICAP/1.0 404 Service not found\r\nServer: Example Scanner/2.1\r\n\r\n',
    '2.1',
    {
      examples: [
        {
          text: 'ICAP/1.0 404 Service not found\r\nServer: Example Scanner/2.1\r\n\r\n',
          product: 'Example Scanner',
        },
      ],
    },
  ),
  raw('varnish-cli', 0.95)(
    'varnish.cli-version',
    ...products.varnish,
    String.raw`^200 \d{1,7} +\n(?s:.){0,200}\nvarnish-<v> revision `,
    '200 226     \n-----------------------------\nVarnish Cache CLI 1.0\n-----------------------------\nLinux,6.1.0,x86_64,-junix,-smalloc,-hcritbit\nvarnish-7.1.1 revision 7cee1c581bead20e88d101ab3d72afb29f14d87a\n',
    '7.1.1',
  ),
  raw('varnish-cli', 0.95)(
    'varnish.cli-login',
    ...products.varnish,
    String.raw`^107 59 {6}\n[a-z]{32}\n\nAuthentication required\.`,
    '107 59      \nvzaaewzqsqdrodvkwuidpumblcbeubhv\n\nAuthentication required.\n\n',
  ),
  // HELLO of OpenFlow 1.0 to 1.5, the second form with a list of supported versions.
  raw('openflow', 0.7)(
    'openflow.hello',
    'OpenFlow',
    null,
    String.raw`^[\x01-\x06]\x00\x00(?:\x08\x00\x00\x00.|\x10(?s:.){4}\x00\x01\x00\x08(?s:.){4})$`,
    '\x06\x00\x00\x08\x00\x00\x00\x02',
  ),
  raw('xpra', 0.95)(
    'xpra.refusal',
    ...products.xpra,
    '^disconnect: (?:invalid packet format|connection failed, invalid packet|invalid packet header)',
    'disconnect: invalid packet format, HTTP GET request\n',
  ),
  rows('http', 'http.body', 0.9)(
    'xpra.page',
    ...products.xpra,
    'Message: this port does not support HTTP requests\\.',
    '<p>Message: this port does not support HTTP requests.\n',
  ),
  raw('xymon', 0.97).prefix('xymon.ping', 'Xymon', 'xymon:xymon', 'xymond 4.3.30\n', '4.3.30'),
  raw('bzr', 0.85)(
    'bzr.smart-server',
    'Bazaar',
    'canonical:bazaar',
    String.raw`^(?:ok\x01[12]\n$|error\x01Generic bzr smart protocol error: )`,
    "error\x01Generic bzr smart protocol error: bad request 'GET / HTTP/1.1\r'\n",
  ),
  raw('rpyc', 0.95)(
    'rpyc.ping',
    'RPyC',
    'rpyc_project:rpyc',
    String.raw`^\x00\x00\x00.\x00\x12R(?s:.){1,12}portolan\n`,
    '\x00\x00\x00\x10\x00\x12RQ\x11Q\x08\x0e\x08portolan\n',
  ),
  raw('carbon-cache', 0.95)(
    'carbon.answer',
    'Graphite Carbon',
    'graphite_project:graphite',
    String.raw`^\x00\x00\x00.\x80[\x02-\x05]}q\x00(?:X\x0a\x00\x00\x00|U\x0a)datapointsq`,
    '\x00\x00\x00\x1b\x80\x02}q\x00X\n\x00\x00\x00datapointsq\x01]q\x02s.',
  ),
];
