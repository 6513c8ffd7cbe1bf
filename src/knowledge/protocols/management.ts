/** Characters kept of a text. */
const textLimit = 512;
/** Levels of nesting and elements of an SNMP message that are looked at. */
const elementLimit = 64;

/** What an SNMP agent answered to a read with the community `public`. */
export interface SnmpRecord {
  /** `1` or `2c` */
  version: string;
  community: string;
  /** The first text among the values: sysDescr.0. Null = the agent gave none. */
  text: string | null;
}

/** A response of SNMP version 1 or 2c (RFC 1157, RFC 3416) without error; null = anything else. */
export function parseSnmp(bytes: Buffer): SnmpRecord | null {
  const message = element(bytes, 0);
  if (message?.tag !== 0x30) return null;
  const version = element(message.body, 0);
  const community = version && element(message.body, version.end);
  const response = community && element(message.body, community.end);
  if (version?.tag !== 0x02 || version.body.length !== 1 || community?.tag !== 0x04) return null;
  const number = version.body[0] as number;
  if (number > 1 || response?.tag !== 0xa2) return null;
  const fields = elements(response.body);
  // Request id, error status, error index, bindings.
  if (fields.length < 4 || fields[1]?.body.some((byte) => byte !== 0)) return null;
  return {
    version: number === 0 ? '1' : '2c',
    community: community.body.toString('latin1', 0, textLimit),
    text: firstText(fields[3]?.body ?? Buffer.alloc(0)),
  };
}

/** The first octet string among the values of a list of bindings. */
function firstText(bindings: Buffer): string | null {
  for (const binding of elements(bindings)) {
    const value = elements(binding.body)[1];
    if (value?.tag === 0x04) return value.body.toString('latin1', 0, textLimit);
  }
  return null;
}

interface Element {
  tag: number;
  body: Buffer;
  /** Where the next one begins. */
  end: number;
}

function elements(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length && found.length < elementLimit; ) {
    const next = element(bytes, at);
    if (!next) break;
    found.push(next);
    at = next.end;
  }
  return found;
}

/** One element of BER with a definite length (X.690, 8.1); null where it is not whole. */
function element(bytes: Buffer, at: number): Element | null {
  if (bytes.length - at < 2) return null;
  const first = bytes[at + 1] as number;
  const more = first & 0x7f;
  if (first === 0x80 || (first > 0x80 && (more > 3 || bytes.length - at < 2 + more))) return null;
  const length = first < 0x80 ? first : bytes.readUIntBE(at + 2, more);
  const start = at + 2 + (first < 0x80 ? 0 : more);
  if (length > bytes.length - start) return null;
  return { tag: bytes[at] as number, body: bytes.subarray(start, start + length), end: start + length };
}

/** What an NTP server answered. */
export interface NtpRecord {
  /** `time`: a client's request. `monitor`: the list of its last clients. */
  kind: 'time' | 'monitor';
  /** Clients in the first packet of the list. */
  clients: number;
  stratum: number | null;
}

const monitorCode = 42;

/** An answer of mode 4 (RFC 5905), or of the private mode 7 that lists clients; null = not NTP. */
export function parseNtp(bytes: Buffer): NtpRecord | null {
  if (bytes.length < 8) return null;
  const first = bytes[0] as number;
  if ((first & 7) === 4 && bytes.length >= 48) {
    return { kind: 'time', clients: 0, stratum: bytes[1] as number };
  }
  // The bit of an answer, mode 7, the code asked for, and no error in the upper four bits.
  if ((first & 0x87) !== 0x87 || bytes[3] !== monitorCode) return null;
  const [items, size] = [bytes.readUInt16BE(4), bytes.readUInt16BE(6)];
  if (items >> 12 !== 0 || (size & 0xfff) === 0) return null;
  return { kind: 'monitor', clients: items & 0xfff, stratum: null };
}
