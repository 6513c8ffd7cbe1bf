/** Where an answer ends, by the rules of its protocol. */
export type ResponseForm =
  /** One line. */
  | 'line'
  /** The line `SSH-...` after any lines before it (RFC 4253 section 4.2). */
  | 'ssh-version'
  /** One binary packet of SSH (RFC 4253 section 6). */
  | 'ssh-packet'
  /** A three-digit reply, possibly of many lines (RFC 5321 section 4.2.1, RFC 959 section 4.2). */
  | 'reply'
  /** The line `a1 OK|NO|BAD ...` of IMAP (RFC 9051 section 7.1), tag in lower case. */
  | 'tagged'
  /** `-ERR` line, or lines up to a single dot (RFC 1939 section 3). */
  | 'dotted'
  /** One line, or with the code 101 lines up to a single dot (RFC 3977 section 5.2). */
  | 'capabilities'
  /** Lines of IRC up to the one that tells the version, asks back or refuses (RFC 2812 section 5). */
  | 'irc'
  /** Packet lines of git up to a flush or an error (gitprotocol-common). */
  | 'packet-lines'
  /** A message of STUN: 16 bits of length behind two bytes, 20 bytes of header (RFC 8489 section 5). */
  | 'stun'
  /** A message of the Data Stream Interface below AFP: 32 bits of length behind 8 bytes, 16 bytes of header. */
  | 'dsi'
  /** Headers and body of HTTP (RFC 9112 section 6). */
  | 'http'
  /** One value of the Redis protocol: a line, or `$n` and n bytes. */
  | 'redis'
  /** One packet of the MySQL protocol: 24-bit length, sequence number. */
  | 'mysql'
  /** Messages of PostgreSQL (type, 32-bit length) up to the first that is neither "authenticated" nor a notice. */
  | 'postgresql'
  /** 16-bit length before the message: DNS over TCP (RFC 7766 section 8). */
  | 'dns'
  /** Security types of RFB: their number and one byte each, or 32 bits (RFC 6143 section 7.1.2). */
  | 'rfb-security'
  /** TPKT, RFC 2126: version, a zero, the whole length in 16 bits. */
  | 'tpkt'
  /** The answer of an X server: its length in words of 32 bits behind 8 bytes. */
  | 'x11'
  /** A zero and 24 bits of length before the message (MS-SMB2 section 2.1). */
  | 'framed'
  /** A record of ONC RPC over TCP: 31 bits of length (RFC 5531 section 11). */
  | 'rpc'
  /** A message of MongoDB: its whole length in the first 32 bits, little-endian. */
  | 'mongodb'
  /** A packet of the tabular data stream: its whole length in 16 bits behind two (MS-TDS section 2.2.3.1). */
  | 'tds'
  /** The whole length in the first 16 bits: TNS of Oracle, PPTP (RFC 2637 section 2). */
  | 'tns'
  /** 32 bits of length before the message: Kafka, Kerberos over TCP (RFC 4120 section 7.2.2). */
  | 'counted'
  /** A frame of Cassandra's native protocol: 9 bytes, the length in the last 4 of them. */
  | 'cassandra'
  /** Messages of LDAP up to the one that ends a search (RFC 4511 section 4.5.2). */
  | 'ldap'
  /** A fragment of DCE/RPC: its length, little-endian, behind 8 bytes (C706 section 12.6.3.1). */
  | 'dcerpc'
  /** One control packet of MQTT: a variable length behind the first byte. */
  | 'mqtt'
  /** Control packets of MQTT up to the first publication. */
  | 'mqtt-publish'
  /** A frame of AMQP 0-9-1: type, channel, 32 bits of length, the payload and an end mark. */
  | 'amqp'
  /** A message of Modbus over TCP: 6 bytes and the length in the last two of them. */
  | 'modbus'
  /** One element of the basic encoding rules (X.690). */
  | 'ber'
  /** 32 bits of the whole length before the message: libvirt. */
  | 'whole'
  /** 24 bytes with the length of what follows behind eight of them: memcached's binary protocol, Groonga. */
  | 'binary-head'
  /** A protocol data unit of iSCSI: 48 bytes, then data whose length stands behind five (RFC 7143 section 11.2.1). */
  | 'iscsi'
  /** 32 bits of length behind the type in 16: corosync-qnetd. */
  | 'qnetd'
  /** Packets of the Apache JServ Protocol up to the end of a response: 16 bits of length behind two. */
  | 'ajp'
  /** The status of a connection between Erlang nodes, and the challenge where it is `ok`. */
  | 'erlang'
  /** Lines up to an empty one: SIP, RTSP. */
  | 'head'
  /** XML up to the end of a stream or of its features, or to the word on TLS (RFC 6120 sections 4.3.2 and 5.4.2). */
  | 'xml-stream'
  /** One byte, two, four, five, eight. */
  | 'byte'
  | 'two'
  | 'word'
  | 'five'
  | 'eight'
  /** Lines up to `END`: Liquidsoap. */
  | 'closed-list'
  /** Lines up to what ends an answer of Festival. */
  | 'festival'
  /** Lines of a hub of ADC up to its description, or to why there is none. */
  | 'adc'
  /** One packet of the remote protocol of GDB, up to its checksum. */
  | 'gdb'
  /** Text of a telnet server up to where it waits: a colon, or the mark of a prompt. */
  | 'telnet'
  /** Up to the byte 3. */
  | 'end-of-text'
  /** The first two messages of an RTMP server: a byte, then 1536. */
  | 'rtmp'
  /** 24 bytes with the length of what follows behind four of them: owserver. */
  | 'owserver'
  /** 26 bytes with the length of what follows, little-endian, in the last four of them: Snapcast. */
  | 'snapcast'
  /** The whole length in 32 bits behind four bytes: RPKI to router (RFC 8210 section 5.1). */
  | 'rtr'
  /** A type in 32 bits, then 32 bits of length: MooseFS. */
  | 'moosefs'
  /** A byte, 32 bits of length, the message: Deluge. */
  | 'deluge'
  /** Whatever comes until the peer is silent or closes. */
  | 'all';

/** Lines of one multi-line answer that are read. */
export const maxLines = 100;

/** Bytes of HTTP headers that are read. */
export const maxHeaderBytes = 64 * 1024;

/** Watches one answer arrive. Looks at each byte once, however it is split. */
export interface ResponseReader {
  /** Length of the complete answer, or 0 while it is incomplete. `bytes` starts with the same bytes at every call. */
  end(bytes: Buffer): number;
  /** The answer was cut by a cap of lines, header or body bytes. */
  readonly capped: boolean;
}

/** @param maxBody bytes of an HTTP body that are read */
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
 * Reads the answer to a question that was a guess: a web server answers any with an error page, which says more than
 * the first line that `form` would take. `isHttp` tells which of both it is, once bytes came.
 */
export function readGuess(
  form: ResponseForm,
  maxBody = maxHeaderBytes,
): ResponseReader & { readonly isHttp: boolean } {
  let isHttp = form === 'http';
  let reader: ResponseReader | null = isHttp ? readResponse(form, maxBody) : null;
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
        if (start.length < httpStart.length && httpStart.startsWith(start)) return 0;
        isHttp = start === httpStart;
        reader = readResponse(isHttp ? 'http' : form, maxBody);
      }
      return reader.end(bytes);
    },
  };
}

const httpStart = 'HTTP/1.';

/**
 * Reads what a service says first without knowing the service: its first five bytes choose the form. `known` is false
 * when no form fits; then the answer ends with its first line and more may follow.
 */
export function readGreeting(): ResponseReader & { readonly known: boolean } {
  let reader: ResponseReader | null = null;
  let form: ResponseForm | null = null;
  return {
    get capped() {
      return reader?.capped ?? false;
    },
    get known() {
      return form !== null;
    },
    end(bytes) {
      if (!reader) {
        if (bytes.length < 5 && !bytes.includes(0x0a)) return 0;
        form = greetingForm(bytes);
        reader = readResponse(form ?? 'line');
      }
      return reader.end(bytes);
    },
  };
}

function greetingForm(bytes: Buffer): ResponseForm | null {
  const text = bytes.toString('latin1', 0, 5);
  if (text.startsWith('SSH-')) return 'ssh-version';
  if (/^\d{3}[ -]/.test(text)) return 'reply';
  if (text.startsWith('* ') || text.startsWith('+OK') || text.startsWith('RFB ')) return 'line';
  // Sequence number 0, then protocol version 10 or an error.
  if (bytes[3] === 0 && (bytes[4] === 0x0a || bytes[4] === 0xff)) return 'mysql';
  return null;
}

/** The version (004), a question that must be answered first, or why there is no registration. */
const ircReplyThatEnds = /^(?:PING |ERROR |:\S{1,255} (?:PING|ERROR|004|43[2367]|46[1-5]|451|433|512) )/;

/** Where the packet lines end: a length of zero, or an error; nonsense ends at once. */
function packetLinesEnd(bytes: Buffer): number {
  for (let at = 0; at + 4 <= bytes.length; ) {
    const digits = bytes.toString('latin1', at, at + 4);
    if (digits === '0000') return at + 4;
    const length = /^[0-9a-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : 0;
    if (length < 4) return bytes.length;
    const end = at + length;
    if (end > bytes.length) return 0;
    if (bytes.toString('latin1', at + 4, at + 8) === 'ERR ') return end;
    at = end;
  }
  return 0;
}

/** Length up to the message that answers a startup; 0 while it is incomplete. */
function postgresqlLength(bytes: Buffer): number {
  let at = 0;
  while (bytes.length - at >= 5) {
    const length = 1 + bytes.readUInt32BE(at + 1);
    const authenticated = bytes[at] === 0x52 && bytes.length - at >= 9 && bytes.readUInt32BE(at + 5) === 0;
    const passing = authenticated || bytes[at] === 0x4e;
    if (!passing || length < 5) return at + length;
    at += length;
  }
  return 0;
}

/** Length of an element of the basic encoding rules that begins at `at`; 0 while it is not known. */
function berEnd(bytes: Buffer, at: number): number {
  const first = bytes[at + 1];
  if (first === undefined) return 0;
  if (first < 0x80) return at + 2 + first;
  const size = first & 0x7f;
  if (size === 0 || size > 4) return Infinity;
  return bytes.length < at + 2 + size ? 0 : at + 2 + size + bytes.readUIntBE(at + 2, size);
}

/** Tag of an entry that was found: more may follow. */
const searchResultEntry = 0x64;

function ldapLength(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; ) {
    const end = berEnd(bytes, at);
    if (end === 0 || end > bytes.length) return end;
    const first = bytes[at + 1] as number;
    const body = first < 0x80 ? at + 2 : at + 2 + (first & 0x7f);
    // A sequence: the id of the message, then what the message is.
    const operation = bytes[body + 2 + (bytes[body + 1] ?? 0)];
    if (bytes[at] !== 0x30 || operation !== searchResultEntry) return end;
    at = end;
  }
  return 0;
}

/** Where the control packet at `at` ends (MQTT 3.1.1 section 2.2.3); 0 while that is not known. */
function mqttPacketEnd(bytes: Buffer, at: number): number {
  let length = 0;
  for (let place = 0; place < 4; place++) {
    const byte = bytes[at + 1 + place];
    if (byte === undefined) return 0;
    length += (byte & 0x7f) << (7 * place);
    if (byte < 0x80) return at + 2 + place + length;
  }
  return Infinity;
}

const mqttPublish = 3;

function mqttPublicationEnd(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; ) {
    const end = mqttPacketEnd(bytes, at);
    if (end === 0 || end > bytes.length || (bytes[at] as number) >> 4 === mqttPublish) return end;
    at = end;
  }
  return 0;
}

/** The end of a text that waits for a word; 0 while it may go on. */
function promptEnd(bytes: Buffer): number {
  return /[\w)\]](?::|[>#$%]) ?$/.test(bytes.toString('latin1', Math.max(0, bytes.length - 16)))
    ? bytes.length
    : 0;
}

/** Where the first packet `$...#xx` ends; acknowledgements may stand before it. */
function gdbPacketEnd(bytes: Buffer): number {
  const mark = bytes.indexOf(0x23, bytes.indexOf(0x24) + 1);
  return mark < 0 || !bytes.includes(0x24) ? 0 : mark + 3;
}

const ajpEndResponse = 5;

function ajpResponseEnd(bytes: Buffer): number {
  for (let at = 0; at + 5 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt16BE(at + 2);
    if (bytes.toString('latin1', at, at + 2) !== 'AB' || bytes[at + 4] === ajpEndResponse) return end;
    at = end;
  }
  return 0;
}

/** Two messages behind 16 bits of length each; a status that is not `ok` is the last. */
function erlangChallengeEnd(bytes: Buffer): number {
  if (bytes.length < 2) return 0;
  const status = 2 + bytes.readUInt16BE(0);
  if (bytes.length < status || !bytes.toString('latin1', 2, status).startsWith('sok')) return status;
  return bytes.length < status + 2 ? 0 : status + 2 + bytes.readUInt16BE(status);
}

function xmlStreamEnd(bytes: Buffer): number {
  const tail = Math.max(0, bytes.length - 4096);
  const text = bytes.toString('latin1', tail);
  const end = /<\/stream:(?:features|stream)>|<(?:stream:features|proceed)\b[^<>]*\/>|<\/failure>/.exec(text);
  return end ? tail + end.index + end[0].length : 0;
}

/** An answer whose length stands at its start; a length above `most` is nonsense and ends the answer at once. */
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

class LineReader implements ResponseReader {
  capped = false;
  #isLast: (line: string, first: boolean) => boolean;
  #start = 0;
  #searched = 0;
  #lines = 0;

  /** @param isLast judges a line without its line end */
  constructor(isLast: (line: string, first: boolean) => boolean) {
    this.#isLast = isLast;
  }

  end(bytes: Buffer): number {
    for (;;) {
      const feed = bytes.indexOf(0x0a, this.#searched);
      if (feed < 0) {
        this.#searched = bytes.length;
        return 0;
      }
      // The start of a line is enough to judge it.
      const line = bytes
        .toString('latin1', this.#start, Math.min(feed, this.#start + 512))
        .replace(/\r$/, '');
      const first = this.#lines === 0;
      this.#lines += 1;
      this.#start = feed + 1;
      this.#searched = feed + 1;
      if (this.#isLast(line, first)) return this.#start;
      if (this.#lines >= maxLines) {
        this.capped = true;
        return this.#start;
      }
    }
  }
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

const headerEnd = Buffer.from('\r\n\r\n');
const bareHeaderEnd = Buffer.from('\n\n');

class HttpReader implements ResponseReader {
  capped = false;
  #maxBody: number;
  #searched = 0;
  #bodyAt = -1;
  #chunks: ChunkReader | null = null;
  #bodyLength: number | null = null;

  constructor(maxBody: number) {
    this.#maxBody = maxBody;
  }

  end(bytes: Buffer): number {
    if (this.#bodyAt < 0 && !this.#findBody(bytes)) return this.#cut(bytes, maxHeaderBytes);
    if (this.#bodyLength !== null) {
      const end = this.#bodyAt + this.#bodyLength;
      if (end - this.#bodyAt <= this.#maxBody) return bytes.length >= end ? end : 0;
    }
    if (this.#chunks) {
      const end = this.#chunks.end(bytes);
      if (end > 0 && end - this.#bodyAt <= this.#maxBody) return end;
    }
    return this.#cut(bytes, this.#bodyAt + this.#maxBody);
  }

  #cut(bytes: Buffer, most: number): number {
    if (bytes.length <= most) return 0;
    this.capped = true;
    return most;
  }

  #findBody(bytes: Buffer): boolean {
    const from = Math.max(0, this.#searched - 3);
    const crlf = bytes.indexOf(headerEnd, from);
    const bare = crlf < 0 ? bytes.indexOf(bareHeaderEnd, from) : -1;
    this.#searched = bytes.length;
    if (crlf < 0 && bare < 0) return false;
    const at = crlf >= 0 ? crlf + 4 : bare + 2;
    if (at > maxHeaderBytes) return false;
    this.#bodyAt = at;
    this.#readHeaders(bytes.toString('latin1', 0, at));
    return true;
  }

  #readHeaders(head: string): void {
    const status = Number(/^HTTP\/\d(?:\.\d)? (\d{3})/.exec(head)?.[1] ?? 0);
    if (status === 204 || status === 304) this.#bodyLength = 0;
    else if (/^transfer-encoding:.*chunked/im.test(head)) this.#chunks = new ChunkReader(this.#bodyAt);
    else {
      const length = /^content-length:[ \t]*(\d{1,15})[ \t]*\r?$/im.exec(head)?.[1];
      if (length !== undefined) this.#bodyLength = Number(length);
    }
  }
}

/** Bytes of a chunk header with its extensions; more is nonsense. */
const maxChunkHeader = 16 * 1024;

/** Finds the end of a chunked body (RFC 9112 section 7.1) without decoding it. */
class ChunkReader {
  #at: number;
  #searched: number;
  #trailer = false;

  constructor(start: number) {
    this.#at = start;
    this.#searched = start;
  }

  /** 0 while chunks are missing. A size that is no size ends the body: nothing after it can be understood. */
  end(bytes: Buffer): number {
    while (this.#at < bytes.length) {
      const feed = bytes.indexOf(0x0a, this.#searched);
      if (feed < 0) {
        this.#searched = bytes.length;
        return bytes.length - this.#at > maxChunkHeader ? bytes.length : 0;
      }
      const line = bytes.toString('latin1', this.#at, Math.min(feed, this.#at + 32)).trimEnd();
      this.#at = feed + 1;
      this.#searched = this.#at;
      if (this.#trailer) {
        if (line === '') return this.#at;
        continue;
      }
      const size = /^([0-9a-f]{1,8})(?:[ \t]*;|[ \t]*$)/i.exec(line)?.[1];
      if (size === undefined) return bytes.length;
      const length = Number.parseInt(size, 16);
      if (length === 0) this.#trailer = true;
      else this.#at += length + 2;
      this.#searched = this.#at;
    }
    return 0;
  }
}
