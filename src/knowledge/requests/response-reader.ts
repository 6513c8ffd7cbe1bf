import { HttpReader, maxHeaderBytes } from './http-reader.ts';
import { LineReader } from './line-reader.ts';
import {
  ajpResponseEnd,
  berEnd,
  erlangChallengeEnd,
  gdbPacketEnd,
  ldapLength,
  mqttPacketEnd,
  mqttPublicationEnd,
  packetLinesEnd,
  postgresqlLength,
  promptEnd,
  xmlStreamEnd,
} from './message-length.ts';
import type { ResponseForm, ResponseReader } from './response-form.ts';

/** @param maxBody maximum size of an HTTP body, bytes */
export function readResponse(form: ResponseForm, maxBody = maxHeaderBytes): ResponseReader {
  switch (form) {
    case 'line':
      return new LineReader(() => true);
    case 'ssh-version':
      return new LineReader((line) => line.startsWith('SSH-'));
    case 'reply':
      return new LineReader((line) => /^\d{3}(?: |\r?$)/.test(line));
    case 'tagged':
      return new LineReader((line) => /^a1 /i.test(line));
    case 'dotted':
      return new LineReader((line, first) => line === '.' || (first && !line.startsWith('+OK')));
    case 'capabilities':
      return new LineReader((line, first) => line === '.' || (first && !line.startsWith('101')));
    case 'irc':
      return new LineReader((line) => ircReplyThatEnds.test(line));
    case 'packet-lines':
      return sized(packetLinesEnd, 64 * 1024);
    case 'stun':
      return sized((bytes) => (bytes.length < 4 ? 0 : 20 + bytes.readUInt16BE(2)), 64 * 1024);
    case 'dsi':
      return sized((bytes) => (bytes.length < 12 ? 0 : 16 + bytes.readUInt32BE(8)), 64 * 1024);
    case 'http':
      return new HttpReader(maxBody);
    case 'redis':
      return new RedisReader();
    case 'ssh-packet':
      return sized((bytes) => (bytes.length < 4 ? 0 : 4 + bytes.readUInt32BE(0)), 64 * 1024);
    case 'mysql':
      return sized((bytes) => (bytes.length < 4 ? 0 : 4 + bytes.readUIntLE(0, 3)), 64 * 1024);
    case 'postgresql':
      return sized(postgresqlLength, 64 * 1024);
    case 'dns':
      return sized((bytes) => (bytes.length < 2 ? 0 : 2 + bytes.readUInt16BE(0)), 64 * 1024 + 2);
    case 'rfb-security':
      return sized((bytes) => (bytes[0] === 0 ? 4 : 1 + (bytes[0] ?? 0)), 256);
    case 'tpkt':
      return sized((bytes) => (bytes.length < 4 ? 0 : bytes.readUInt16BE(2)), 64 * 1024);
    case 'x11':
      return sized((bytes) => (bytes.length < 8 ? 0 : 8 + 4 * bytes.readUInt16LE(6)), 64 * 1024);
    case 'framed':
      return sized((bytes) => (bytes.length < 4 ? 0 : 4 + bytes.readUIntBE(1, 3)), 64 * 1024);
    case 'rpc':
      return sized((bytes) => (bytes.length < 4 ? 0 : 4 + (bytes.readUInt32BE(0) & 0x7fff_ffff)), 64 * 1024);
    case 'mongodb':
      return sized((bytes) => (bytes.length < 4 ? 0 : bytes.readUInt32LE(0)), 64 * 1024);
    case 'tds':
      return sized((bytes) => (bytes.length < 4 ? 0 : bytes.readUInt16BE(2)), 64 * 1024);
    case 'tns':
      return sized((bytes) => (bytes.length < 2 ? 0 : bytes.readUInt16BE(0)), 64 * 1024);
    case 'counted':
      return sized((bytes) => (bytes.length < 4 ? 0 : 4 + bytes.readUInt32BE(0)), 64 * 1024);
    case 'cassandra':
      return sized((bytes) => (bytes.length < 9 ? 0 : 9 + bytes.readUInt32BE(5)), 64 * 1024);
    case 'ldap':
      return sized(ldapLength, 64 * 1024);
    case 'dcerpc':
      return sized((bytes) => (bytes.length < 10 ? 0 : bytes.readUInt16LE(8)), 64 * 1024);
    case 'mqtt':
      return sized((bytes) => mqttPacketEnd(bytes, 0), 64 * 1024);
    case 'mqtt-publish':
      return sized(mqttPublicationEnd, 64 * 1024);
    case 'amqp':
      return sized((bytes) => (bytes.length < 7 ? 0 : 8 + bytes.readUInt32BE(3)), 64 * 1024);
    case 'modbus':
      return sized((bytes) => (bytes.length < 6 ? 0 : 6 + bytes.readUInt16BE(4)), 1024);
    case 'enip':
      return sized((bytes) => (bytes.length < 4 ? 0 : 24 + bytes.readUInt16LE(2)), 64 * 1024);
    case 'apci':
      return sized((bytes) => (bytes.length < 2 ? 0 : 2 + (bytes[1] as number)), 257);
    case 'fox':
      return new LineReader((line) => line === '};;');
    case 'fins':
      return sized((bytes) => (bytes.length < 8 ? 0 : 8 + bytes.readUInt32BE(4)), 1024);
    case 'ber':
      return sized((bytes) => berEnd(bytes, 0), 64 * 1024);
    case 'whole':
      return sized((bytes) => (bytes.length < 4 ? 0 : bytes.readUInt32BE(0)), 64 * 1024);
    case 'binary-head':
      return sized((bytes) => (bytes.length < 12 ? 0 : 24 + bytes.readUInt32BE(8)), 64 * 1024);
    case 'iscsi':
      return sized(
        (bytes) => (bytes.length < 8 ? 0 : 48 + 4 * Math.ceil(bytes.readUIntBE(5, 3) / 4)),
        64 * 1024,
      );
    case 'qnetd':
      return sized((bytes) => (bytes.length < 6 ? 0 : 6 + bytes.readUInt32BE(2)), 64 * 1024);
    case 'ajp':
      return sized(ajpResponseEnd, 64 * 1024);
    case 'erlang':
      return sized(erlangChallengeEnd, 1024);
    case 'head':
      return new LineReader((line) => line === '');
    case 'xml-stream':
      return sized(xmlStreamEnd, 64 * 1024);
    case 'byte':
      return sized(() => 1, 1);
    case 'two':
      return sized(() => 2, 2);
    case 'word':
      return sized(() => 4, 4);
    case 'five':
      return sized(() => 5, 5);
    case 'eight':
      return sized(() => 8, 8);
    case 'ten':
      return sized(() => 10, 10);
    case 'closed-list':
      return new LineReader((line) => line === 'END');
    case 'festival':
      return new LineReader((line) => line === 'ER' || line.endsWith('ft_StUfF_keyOK'));
    case 'adc':
      return new LineReader((line) => /^I(?:INF|STA|QUI) /.test(line));
    case 'gdb':
      return sized(gdbPacketEnd, 4096);
    case 'telnet':
      return sized(promptEnd, 64 * 1024);
    case 'end-of-text':
      return sized((bytes) => bytes.indexOf(3) + 1, 64 * 1024);
    case 'rtmp':
      return sized(() => 1537, 1537);
    case 'owserver':
      return sized((bytes) => (bytes.length < 8 ? 0 : 24 + bytes.readUInt32BE(4)), 64 * 1024);
    case 'snapcast':
      return sized((bytes) => (bytes.length < 26 ? 0 : 26 + bytes.readUInt32LE(22)), 64 * 1024);
    case 'rtr':
      return sized((bytes) => (bytes.length < 8 ? 0 : bytes.readUInt32BE(4)), 64 * 1024);
    case 'moosefs':
      return sized((bytes) => (bytes.length < 8 ? 0 : 8 + bytes.readUInt32BE(4)), 64 * 1024);
    case 'deluge':
      return sized((bytes) => (bytes.length < 5 ? 0 : 5 + bytes.readUInt32BE(1)), 64 * 1024);
    case 'all':
      return { end: () => 0, capped: false };
  }
}

/**
 * Reads the response to a speculative request: web servers send an error page to any request, which contains more
 * than the first line that `form` would read. `isHttp` shows which of the two it is, once bytes have arrived.
 */
export function readGuess(
  form: ResponseForm,
  maxBody = maxHeaderBytes,
): ResponseReader & { readonly isHttp: boolean } {
  let isHttp = form === 'http';
  let reader: ResponseReader | null = null;
  return {
    get capped() {
      return reader?.capped ?? false;
    },
    get isHttp() {
      return isHttp;
    },
    end(bytes) {
      if (!reader) {
        const start = bytes.toString('latin1', 0, httpStart.length);
        const other = form === 'http' ? icyStart : httpStart;
        if (start.length < other.length && other.startsWith(start)) return 0;
        const isIcy = form === 'http' && start.startsWith(icyStart);
        isHttp = start === httpStart || (form === 'http' && !isIcy);
        reader = readResponse(isIcy ? 'head' : isHttp ? 'http' : form, maxBody);
      }
      return reader.end(bytes);
    },
  };
}

const httpStart = 'HTTP/1.';
/** SHOUTcast: headers, then a stream without an end. */
const icyStart = 'ICY ';

/**
 * Reads the greeting of an unknown service: its first five bytes determine the form. `known` is false if no form
 * matches; then the response ends with its first line, and more may follow. `unfinished` is true between the first
 * line of a reply, a code with a hyphen, and its last one: until then the server does not read.
 */
export function readGreeting(): ResponseReader & { readonly known: boolean; readonly unfinished: boolean } {
  let reader: ResponseReader | null = null;
  let form: ResponseForm | null = null;
  let unfinished = false;
  return {
    get capped() {
      return reader?.capped ?? false;
    },
    get known() {
      return form !== null;
    },
    get unfinished() {
      return unfinished;
    },
    end(bytes) {
      if (!reader) {
        if (bytes.length < 5 && !bytes.includes(0x0a)) return 0;
        form = greetingForm(bytes);
        const code = /^\d{3}(?=-)/.exec(bytes.toString('latin1', 0, 4))?.[0];
        unfinished = code !== undefined;
        // RFC 959 section 4.2: lines in between may begin with another number.
        reader = unfinished ? new LineReader(lastLineOf(code as string)) : readResponse(form ?? 'line');
      }
      const end = reader.end(bytes);
      if (end > 0 && !reader.capped) unfinished = false;
      return end;
    },
  };
}

const lastLineOf = (code: string) => (line: string) =>
  line.startsWith(code) && (line.length === 3 || line[3] === ' ');

function greetingForm(bytes: Buffer): ResponseForm | null {
  const text = bytes.toString('latin1', 0, 5);
  if (text.startsWith('SSH-')) return 'ssh-version';
  if (/^\d{3}[ -]/.test(text)) return 'reply';
  if (text.startsWith('* ') || text.startsWith('+OK') || text.startsWith('RFB ')) return 'line';
  // Sequence number 0, then protocol version 10 or an error.
  if (bytes[3] === 0 && (bytes[4] === 0x0a || bytes[4] === 0xff)) return 'mysql';
  return null;
}

/** The version (004), a request that needs a response first, or the reason for a rejected registration. */
const ircReplyThatEnds = /^(?:PING |ERROR |:\S{1,255} (?:PING|ERROR|004|43[2367]|46[1-5]|451|433|512) )/;

/** A response with its length at the start; a length above `most` is invalid and ends the response at once. */
function sized(lengthOf: (bytes: Buffer) => number, most: number): ResponseReader {
  return {
    capped: false,
    end(bytes) {
      const length = lengthOf(bytes);
      if (length > most) return bytes.length;
      return length > 0 && bytes.length >= length ? length : 0;
    },
  };
}

class RedisReader implements ResponseReader {
  readonly capped = false;

  end(bytes: Buffer): number {
    const feed = bytes.subarray(0, 512).indexOf(0x0a);
    if (feed < 0) return bytes.length > 512 ? bytes.length : 0;
    const size = /^\$(\d{1,6})\r$/.exec(bytes.toString('latin1', 0, feed))?.[1];
    const length = size === undefined ? feed + 1 : feed + 1 + Number(size) + 2;
    return bytes.length >= length ? length : 0;
  }
}
