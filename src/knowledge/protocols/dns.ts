/** Resource records of a response. */
const recordLimit = 16;
/** Labels of one name. */
const labelLimit = 128;
/** Maximum length of one text, characters. */
const textLimit = 512;

const typeTxt = 16;
const headerLength = 12;

export interface DnsRecord {
  /** Text of the first TXT record: the response to `version.bind`. */
  version: string | null;
  rcode: number;
  /** The server offers recursion to this client (RA, RFC 1035, 4.1.1). */
  recursion: boolean;
  /** `version.bind` is a zone that is its own name server: BIND serves it this way whatever the text. */
  ownZone: boolean;
}

/** Recognizes a DNS response (RFC 1035, 4), over TCP with its two-byte length prefix; null = not DNS. */
export function parseDns(bytes: Buffer, protocol: 'tcp' | 'udp'): DnsRecord | null {
  const message = protocol === 'tcp' ? framed(bytes) : bytes;
  if (!message || message.length < headerLength) return null;
  const flags = message.readUInt16BE(2);
  const isResponse = (flags & 0x8000) !== 0;
  // Bit 6 is reserved; opcodes above 6 are undefined.
  if (!isResponse || (flags & 0x0040) !== 0 || ((flags >> 11) & 0x0f) > 6) return null;
  const [questions, answers] = [message.readUInt16BE(4), message.readUInt16BE(6)];
  if (questions > 1 || answers > 1000 || message.readUInt16BE(8) > 1000) return null;
  return {
    version: firstText(message, questions, Math.min(answers, recordLimit)),
    rcode: flags & 0x0f,
    recursion: (flags & 0x0080) !== 0,
    ownZone: answers === 1 && message.readUInt16BE(8) === 1 && message.includes(ownNameServer),
  };
}

/** NS record of class CHAOS whose owner and target are the name of the question section. */
const ownNameServer = Buffer.from('c00c00020003000000000002c00c', 'hex');

function framed(bytes: Buffer): Buffer | null {
  if (bytes.length < 2 + headerLength) return null;
  const length = bytes.readUInt16BE(0);
  if (length < headerLength || length > bytes.length - 2) return null;
  return bytes.subarray(2, 2 + length);
}

function firstText(message: Buffer, questions: number, answers: number): string | null {
  let position: number | null = headerLength;
  for (let index = 0; index < questions; index++) {
    position = skipName(message, position);
    if (position === null) return null;
    position += 4;
  }
  for (let index = 0; index < answers; index++) {
    position = skipName(message, position);
    if (position === null || position + 10 > message.length) return null;
    const type = message.readUInt16BE(position);
    const length = message.readUInt16BE(position + 8);
    const data = message.subarray(position + 10, position + 10 + length);
    if (type === typeTxt) return joinStrings(data);
    position += 10 + length;
  }
  return null;
}

/** Offset after a name; a compression pointer ends the name and is never followed. */
function skipName(message: Buffer, start: number): number | null {
  let position = start;
  for (let labels = 0; labels < labelLimit && position < message.length; labels++) {
    const length = message[position] as number;
    if (length === 0) return position + 1;
    if (length >= 0xc0) return position + 2;
    if (length > 63) return null;
    position += 1 + length;
  }
  return null;
}

/** A TXT record is a sequence of strings, each with a one-byte length. */
function joinStrings(data: Buffer): string {
  let text = '';
  for (let position = 0; position < data.length && text.length < textLimit; ) {
    const length = data[position] as number;
    text += data.toString('latin1', position + 1, position + 1 + length);
    position += 1 + length;
  }
  return text.slice(0, textLimit);
}
