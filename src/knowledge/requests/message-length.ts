/** End of the packet lines: a length of zero, or an error; an invalid length ends them at once. */
export function packetLinesEnd(bytes: Buffer): number {
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

/** Length up to the message that responds to a startup; 0 while it is incomplete. */
export function postgresqlLength(bytes: Buffer): number {
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

/** End of a BER element at `at`; 0 while it is unknown. */
export function berEnd(bytes: Buffer, at: number): number {
  const first = bytes[at + 1];
  if (first === undefined) return 0;
  if (first < 0x80) return at + 2 + first;
  const size = first & 0x7f;
  if (size === 0 || size > 4) return Infinity;
  return bytes.length < at + 2 + size ? 0 : at + 2 + size + bytes.readUIntBE(at + 2, size);
}

/** Tag of a search result entry: more may follow. */
const searchResultEntry = 0x64;

export function ldapLength(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; ) {
    const end = berEnd(bytes, at);
    if (end === 0 || end > bytes.length) return end;
    const first = bytes[at + 1] as number;
    const body = first < 0x80 ? at + 2 : at + 2 + (first & 0x7f);
    // A sequence: the message id, then the operation.
    const operation = bytes[body + 2 + (bytes[body + 1] ?? 0)];
    if (bytes[at] !== 0x30 || operation !== searchResultEntry) return end;
    at = end;
  }
  return 0;
}

/** End of the control packet at `at` (MQTT 3.1.1 section 2.2.3); 0 while it is unknown. */
export function mqttPacketEnd(bytes: Buffer, at: number): number {
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

export function mqttPublicationEnd(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; ) {
    const end = mqttPacketEnd(bytes, at);
    if (end === 0 || end > bytes.length || (bytes[at] as number) >> 4 === mqttPublish) return end;
    at = end;
  }
  return 0;
}

/** End of a text that prompts for input; 0 while it may continue. */
export function promptEnd(bytes: Buffer): number {
  return /[\w)\]](?::|[>#$%]) ?$/.test(bytes.toString('latin1', Math.max(0, bytes.length - 16)))
    ? bytes.length
    : 0;
}

/** End of the first packet `$...#xx`; acknowledgements may precede it. */
export function gdbPacketEnd(bytes: Buffer): number {
  const mark = bytes.indexOf(0x23, bytes.indexOf(0x24) + 1);
  return mark < 0 || !bytes.includes(0x24) ? 0 : mark + 3;
}

const ajpEndResponse = 5;

export function ajpResponseEnd(bytes: Buffer): number {
  for (let at = 0; at + 5 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt16BE(at + 2);
    if (bytes.toString('latin1', at, at + 2) !== 'AB' || bytes[at + 4] === ajpEndResponse) return end;
    at = end;
  }
  return 0;
}

/** Two messages, each after 16 bits of length; a status other than `ok` is the last. */
export function erlangChallengeEnd(bytes: Buffer): number {
  if (bytes.length < 2) return 0;
  const status = 2 + bytes.readUInt16BE(0);
  if (bytes.length < status || !bytes.toString('latin1', 2, status).startsWith('sok')) return status;
  return bytes.length < status + 2 ? 0 : status + 2 + bytes.readUInt16BE(status);
}

export function xmlStreamEnd(bytes: Buffer): number {
  const tail = Math.max(0, bytes.length - 4096);
  const text = bytes.toString('latin1', tail);
  const end = /<\/stream:(?:features|stream)>|<(?:stream:features|proceed)\b[^<>]*\/>|<\/failure>/.exec(text);
  return end ? tail + end.index + end[0].length : 0;
}
