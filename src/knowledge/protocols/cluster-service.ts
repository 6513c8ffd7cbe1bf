import { plainText } from './plain-text.ts';
import { type RecognizedService, recognizedBy } from './recognized-service.ts';

/** Maximum length of a text, characters. */
const textLimit = 512;
/** Maximum number of parameters, pairs and records read. */
const fieldLimit = 32;

/** Recognizes agents, clusters and runtime services by the response to the probe made for them; null = none. */
export function parseClusterService(bytes: Buffer, probe: string): RecognizedService | null {
  return (
    readNrpe(bytes) ??
    readDrda(bytes) ??
    readJdwp(bytes) ??
    readErlangNode(bytes) ??
    readMemcachedBinary(bytes) ??
    readLibvirt(bytes) ??
    readZabbix(bytes, probe) ??
    readRabbitmqStream(bytes) ??
    (probe === 'fastcgi' ? readFastcgi(bytes) : null) ??
    (probe === 'uwsgi' ? readUwsgi(bytes) : null) ??
    (probe === 'iscsi' ? readIscsi(bytes) : null) ??
    (probe === 'iperf3' ? readIperf(bytes) : null) ??
    (probe === 'ovsdb' ? readOvsdb(bytes) : null) ??
    (probe === 'corosync-qnetd' ? readQnetd(bytes) : null) ??
    (probe === 'gqtp' ? readGroonga(bytes) : null) ??
    (probe === 'null' ? readNsca(bytes) : null)
  );
}

/** A response: version, type 2, checksum, result, and a text whose offset depends on the version. */
function readNrpe(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 16) return null;
  const [version, type, result] = [bytes.readUInt16BE(0), bytes.readUInt16BE(2), bytes.readUInt16BE(8)];
  if (version < 2 || version > 4 || type !== 2 || result > 3) return null;
  const start = version === 2 ? 10 : 16;
  const end = bytes.indexOf(0, start);
  const text = bytes.toString('latin1', start, Math.min(end === -1 ? bytes.length : end, start + textLimit));
  if (!/^[\x09-\x0d\x20-\x7e]+$/.test(text)) return null;
  return recognizedBy('nrpe', 'nrpe.answer', plainText(text));
}

/** Decodes letters, digits and some punctuation of code page 500. */
function ebcdicText(bytes: Buffer): string {
  const marks: Record<number, string> = {
    0x40: ' ',
    0x4b: '.',
    0x4d: '(',
    0x4e: '+',
    0x5d: ')',
    0x60: '-',
    0x61: '/',
    0x6b: ',',
    0x6d: '_',
    0x7a: ':',
  };
  let text = '';
  for (const byte of bytes.subarray(0, textLimit)) {
    const low = byte & 0x0f;
    const row = byte >> 4;
    const start = row >= 12 ? 'AJS' : 'ajs';
    const letters =
      row === 8 || row === 12 ? 0 : row === 9 || row === 13 ? 1 : row === 10 || row === 14 ? 2 : -1;
    if (row === 15 && low <= 9) text += String(low);
    else if (letters !== -1 && low >= (letters === 2 ? 2 : 1) && low <= 9)
      text += String.fromCharCode(start.charCodeAt(letters) + low - (letters === 2 ? 2 : 1));
    else text += marks[byte] ?? '?';
  }
  return text;
}

const drdaFields: Record<number, string> = { 0x1147: 'class', 0x115a: 'release', 0x115e: 'external' };
const serverAttributes = 0x1443;
const firstDrdaReply = 0x1200;
const lastDrdaReply = 0x24ff;

/** EXCSATRD of Distributed Data Management or an error reply, after a data stream structure (DSS) of reply type. */
function readDrda(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 10 || bytes[2] !== 0xd0 || ![2, 3, 0x42, 0x43].includes(bytes[3] as number)) return null;
  const [whole, length, code] = [bytes.readUInt16BE(0), bytes.readUInt16BE(6), bytes.readUInt16BE(8)];
  if (bytes.readUInt16BE(4) !== 1 || length + 6 !== whole) return null;
  if (code < firstDrdaReply || code > lastDrdaReply) return null;
  const fields: string[] = [];
  const end = Math.min(bytes.length, whole);
  for (let at = 10; code === serverAttributes && at + 4 <= end && fields.length < fieldLimit; ) {
    const size = bytes.readUInt16BE(at);
    const name = drdaFields[bytes.readUInt16BE(at + 2)];
    if (size < 4) break;
    const value = bytes.subarray(at + 4, Math.min(at + size, end));
    // Servers with Unicode support reply in Unicode.
    const plain = value.length > 0 && value.every((byte) => byte >= 0x20 && byte < 0x7f);
    if (name)
      fields.push(`${name}: ${(plain ? value.toString('latin1', 0, textLimit) : ebcdicText(value)).trim()}`);
    at += size;
  }
  const text = fields.join('\n');
  if (text === '') return { service: 'drda', evidence: [], proof: `DRDA reply ${code.toString(16)}` };
  return recognizedBy('drda', 'drda.attributes', text, fields.join(', '));
}

const jdwpHandshake = 'JDWP-Handshake';

/** The handshake, then packets: the VirtualMachine.Version reply carries the request id and five fields. */
function readJdwp(bytes: Buffer): RecognizedService | null {
  if (bytes.toString('latin1', 0, jdwpHandshake.length) !== jdwpHandshake) return null;
  for (let at = jdwpHandshake.length, left = fieldLimit; at + 11 <= bytes.length && left > 0; left--) {
    const size = bytes.readUInt32BE(at);
    if (size < 11) break;
    const body = bytes.subarray(at + 11, Math.min(at + size, bytes.length));
    const isReply = bytes[at + 8] === 0x80 && bytes.readUInt32BE(at + 4) === 0x504f5254;
    const text = isReply ? jdwpVersion(body) : null;
    if (text) return recognizedBy('jdwp', 'jdwp.version', text);
    at += size;
  }
  return { service: 'jdwp', evidence: [], proof: jdwpHandshake };
}

/** Fields: description, two numbers, VM version, VM name. Returns the last two: `17.0.9 OpenJDK 64-Bit ...`. */
function jdwpVersion(body: Buffer): string | null {
  const textAt = (at: number) => {
    const length = at + 4 <= body.length ? body.readUInt32BE(at) : 0;
    return {
      text: plainText(body.toString('utf8', at + 4, at + 4 + Math.min(length, textLimit))),
      end: at + 4 + length,
    };
  };
  const version = textAt(textAt(0).end + 8);
  const name = textAt(version.end);
  return version.text === '' ? null : `${version.text} ${name.text}`.trim();
}

/** Connection status and, after `ok`, the challenge message: `N`, flags, challenge, creation, name. */
function readErlangNode(bytes: Buffer): RecognizedService | null {
  const text = bytes.toString('latin1', 0, 512);
  const status = /^\0[\x03-\x14]s(ok_simultaneous|ok|nok|not_allowed|alive)(?=\0|$)/.exec(text);
  if (!status || bytes.readUInt16BE(0) !== status[0].length - 2) return null;
  const at = status[0].length;
  const isLong = text[at + 2] === 'N' && bytes.length >= at + 21;
  const isShort = text[at + 2] === 'n' && bytes.length >= at + 13;
  const length = isLong ? bytes.readUInt16BE(at + 19) : 0;
  const name = isLong ? text.slice(at + 21, at + 21 + length) : isShort ? text.slice(at + 13) : '';
  const node = /^[\x21-\x7e]{1,255}$/.test(name) ? name : null;
  if (node !== null) return recognizedBy('erlang-node', 'erlang.node', node, `Erlang node ${node}`);
  return recognizedBy('erlang-node', 'erlang.status', status[1] ?? '', `Erlang distribution: ${status[1]}`);
}

/** Response to the `version` command of the binary protocol. */
function readMemcachedBinary(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 24 || bytes[0] !== 0x81 || bytes[1] !== 0x0b) return null;
  const [status, length] = [bytes.readUInt16BE(6), bytes.readUInt32BE(8)];
  const text = bytes.toString('latin1', 24, 24 + Math.min(length, 64));
  if (status !== 0 || !/^\d[\w.-]*$/.test(text))
    return { service: 'memcached', evidence: [], proof: `memcached: status ${status}` };
  return recognizedBy('memcached', 'memcached.version', text, `VERSION ${text}`);
}

/** Reply of the libvirt RPC program 0x20008086. */
function readLibvirt(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 28 || bytes.readUInt32BE(4) !== 0x20008086 || bytes.readUInt32BE(8) !== 1) return null;
  if (bytes.readUInt32BE(0) > 64 * 1024 || bytes.readUInt32BE(16) !== 1) return null;
  return recognizedBy('libvirt', 'libvirt.answer', 'remote protocol 1', 'libvirt remote protocol');
}

/** Servers, proxies and gateways send JSON in the same frame as agents. */
function readZabbix(bytes: Buffer, probe: string): RecognizedService | null {
  if (!/^ZBXD[\x01-\x03]/.test(bytes.toString('latin1', 0, 5))) return null;
  const text = bytes.toString('latin1', 13, 13 + 8 * textLimit);
  if (!/^\{\s*"(?:response|data|version)"/.test(text)) return null;
  const short = plainText(text);
  if (text.startsWith('{"response":"failed","error":'))
    return recognizedBy('zabbix-java-gateway', 'zabbix.gateway', short);
  if (probe !== 'zabbix-trapper') return null;
  const version = /"version":"(\d[\w.]{1,30})"/.exec(text)?.[1];
  const evidence: RecognizedService['evidence'] = [['zabbix.server', version ?? 'zabbix.stats']];
  return { service: 'zabbix-trapper', evidence, proof: short };
}

/** PeerProperties response: key with its top bit set, version, correlation id, code, pairs of counted texts. */
function readRabbitmqStream(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 18 || bytes.readUInt32BE(4) !== 0x80110001) return null;
  const properties = new Map<string, string>();
  const textAt = (at: number) => {
    const length = at + 2 <= bytes.length ? bytes.readUInt16BE(at) : 0;
    return {
      text: bytes.toString('latin1', at + 2, at + 2 + Math.min(length, textLimit)),
      end: at + 2 + length,
    };
  };
  for (let at = 18; at < bytes.length && properties.size < fieldLimit; ) {
    const name = textAt(at);
    const value = textAt(name.end);
    properties.set(name.text, plainText(value.text));
    at = value.end;
  }
  const text = `${properties.get('product') ?? ''} ${properties.get('version') ?? ''}`.trim();
  if (text === '') return { service: 'rabbitmq-stream', evidence: [], proof: text };
  return recognizedBy('rabbitmq-stream', 'rabbitmq.stream', text);
}

/** FCGI_GET_VALUES_RESULT (10) with name-value pairs, or FCGI_UNKNOWN_TYPE (11). */
function readFastcgi(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 8 || bytes[0] !== 1 || bytes.readUInt16BE(2) !== 0) return null;
  if (bytes[1] === 11) return { service: 'fastcgi', evidence: [], proof: 'FCGI_UNKNOWN_TYPE' };
  if (bytes[1] !== 10) return null;
  const body = bytes.subarray(8, 8 + bytes.readUInt16BE(4));
  const values: string[] = [];
  for (let at = 0; at + 2 <= body.length && values.length < fieldLimit; ) {
    const [name, value] = [body[at] as number, body[at + 1] as number];
    // Lengths above 127 take four bytes; no expected value is that long.
    if (name > 127 || value > 127) break;
    const text = body.toString('latin1', at + 2, at + 2 + name);
    values.push(`${text}=${body.toString('latin1', at + 2 + name, at + 2 + name + value)}`);
    at += 2 + name + value;
  }
  const text = plainText(values.join(' '));
  if (text === '') return { service: 'fastcgi', evidence: [], proof: 'FCGI_GET_VALUES_RESULT' };
  return recognizedBy('fastcgi', 'fastcgi.values', text);
}

function readUwsgi(bytes: Buffer): RecognizedService | null {
  if (bytes.length !== 4 || bytes[0] !== 100 || bytes[3] !== 1) return null;
  return recognizedBy('uwsgi', 'uwsgi.ping', 'pong', 'response to the ping of the uwsgi protocol');
}

/** A login response (0x23) or a reject (0x3f); key=value pairs follow the header. */
function readIscsi(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 48 || (bytes[0] !== 0x23 && bytes[0] !== 0x3f)) return null;
  const length = bytes.readUIntBE(5, 3);
  const text = plainText(bytes.toString('latin1', 48, 48 + Math.min(length, textLimit)));
  const what = bytes[0] === 0x3f ? 'reject' : `login response, status ${bytes[36]}.${bytes[37]}`;
  return recognizedBy('iscsi', 'iscsi.answer', `${what} ${text}`.trim(), `iSCSI ${what}`);
}

/** PARAM_EXCHANGE, or ACCESS_DENIED when the server is busy. */
function readIperf(bytes: Buffer): RecognizedService | null {
  if (bytes.length !== 1 || (bytes[0] !== 9 && bytes[0] !== 0xff)) return null;
  const what = bytes[0] === 9 ? 'PARAM_EXCHANGE' : 'ACCESS_DENIED';
  return recognizedBy('iperf3', 'iperf.state', what);
}

/** Database names from the response that carries the request id. */
function readOvsdb(bytes: Buffer): RecognizedService | null {
  const text = bytes.toString('latin1', 0, 4096);
  if (!/^\s*\{/.test(text) || !/"id": ?"portolan"/.test(text)) return null;
  const names = /"result": ?\[([^[\]]*)\]/.exec(text)?.[1];
  if (names === undefined) return null;
  return recognizedBy('ovsdb', 'ovsdb.databases', plainText(names));
}

/** Reply to the first message (1), or an error (3). */
function readQnetd(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 6 || bytes[0] !== 0 || (bytes[1] !== 1 && bytes[1] !== 3)) return null;
  if (bytes.readUInt32BE(2) + 6 !== bytes.length) return null;
  const what = bytes[1] === 1 ? 'preinit reply' : 'server error';
  return recognizedBy('corosync-qnetd', 'qnetd.answer', what, `corosync-qnetd ${what}`);
}

/** A frame of the Groonga Query Transfer Protocol (GQTP) with the status as JSON. */
function readGroonga(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 24 || bytes[0] !== 0xc7) return null;
  const text = bytes.toString('latin1', 24, 24 + 4096);
  const version = /"version": ?"(\d[\w.]{1,30})"/.exec(text)?.[1];
  const proof = version ? `Groonga ${version}` : 'a frame of GQTP';
  return recognizedBy('gqtp', 'groonga.version', version ?? 'unknown', proof);
}

/** The first packet of NSCA: 128 random bytes, then the server's time in seconds. */
function readNsca(bytes: Buffer): RecognizedService | null {
  if (bytes.length !== 132) return null;
  const time = bytes.readUInt32BE(128);
  // 2010 to 2040; bytes of a text fall outside.
  if (time < 1_262_304_000 || time > 2_208_988_800) return null;
  if (bytes.subarray(0, 128).every((byte) => byte < 0x80)) return null;
  const proof = '128 random bytes and a time';
  return recognizedBy('nsca', 'nsca.greeting', proof);
}
