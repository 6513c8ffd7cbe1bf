import { type RecognizedService, recognizedBy } from './recognized-service.ts';

/** Names of a NetBIOS node. */
const nodeNameLimit = 64;
/** Records of a response of multicast DNS. */
const recordLimit = 64;
/** Labels of a name. */
const labelLimit = 32;
/** Maximum length of a text, characters. */
const textLimit = 512;

const header = 12;
const typePointer = 12;
const typeHostInfo = 13;
const typeText = 16;
const typeService = 33;
const typeNodeStatus = 33;

/** Meaning of a NetBIOS name (RFC 1001, MS-NBTE) by its last byte and whether it is a group name. */
const nodeNameUses: Readonly<Record<string, string>> = {
  '0': 'computer',
  'group 0': 'domain',
  '32': 'file_server',
  'group 27': 'domain',
  'group 28': 'domain_controllers',
  '27': 'master_browser_domain',
};

/**
 * Node status response, RFC 1002 section 4.2.18: host name, workgroup and MAC address. Null = not such a response.
 */
export function readNodeStatus(bytes: Buffer): RecognizedService | null {
  const record = answerRecord(bytes);
  if (!record || record.type !== typeNodeStatus) return null;
  const { data } = record;
  const count = Math.min(data[0] ?? 0, nodeNameLimit);
  if (count === 0 || data.length < 1 + 18 * count) return null;
  const lines = new Set<string>();
  for (let at = 1; at < 1 + 18 * count; at += 18) {
    const group = ((data[at + 16] as number) & 0x80) !== 0;
    const use = nodeNameUses[`${group ? 'group ' : ''}${data[at + 15]}`];
    const name = data.toString('latin1', at, at + 15).trimEnd();
    if (use && /^[\x21-\x7e][\x20-\x7e]*$/.test(name)) lines.add(`${use}: ${name}`);
  }
  const card = data.subarray(1 + 18 * count, 7 + 18 * count);
  const mac = card.length < 6 ? '' : [...card].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
  if (mac !== '') lines.add(`mac: ${mac}`);
  const text = [...lines].join('\n');
  return recognizedBy('netbios-ns', 'netbios.names', text, text.replaceAll('\n', ', '));
}

/** The first record record of a message without compression pointers before it. */
function answerRecord(bytes: Buffer): { type: number; data: Buffer } | null {
  if (bytes.length < header || ((bytes[2] as number) & 0x80) === 0 || bytes.readUInt16BE(6) === 0)
    return null;
  let at = header;
  for (let question = bytes.readUInt16BE(4); question > 0 && question < 3; question--) {
    const end = nameAt(bytes, at)?.end;
    if (end === undefined) return null;
    at = end + 4;
  }
  const end = nameAt(bytes, at)?.end;
  if (end === undefined || end + 10 > bytes.length) return null;
  const start = end + 10;
  return { type: bytes.readUInt16BE(end), data: bytes.subarray(start, start + bytes.readUInt16BE(end + 8)) };
}

/** The labels of a name. Follows compression pointers only backwards, which rules out loops. */
function nameAt(bytes: Buffer, start: number): { labels: string[]; end: number } | null {
  const labels: string[] = [];
  let at = start;
  let end = -1;
  for (let count = 0; count < labelLimit; count++) {
    const length = bytes[at];
    if (length === undefined) return null;
    if (length === 0) return { labels, end: end === -1 ? at + 1 : end };
    if (length >= 0xc0) {
      const low = bytes[at + 1];
      if (low === undefined) return null;
      const target = ((length & 0x3f) << 8) | low;
      if (target >= at) return null;
      if (end === -1) end = at + 2;
      at = target;
      continue;
    }
    if (length > 63 || at + 1 + length > bytes.length) return null;
    labels.push(bytes.toString('utf8', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return null;
}

/**
 * Multicast DNS response (RFC 6762, RFC 6763): service types, host names, hardware and system, and the TXT records of
 * the services. Null = not a DNS response.
 */
export function readMulticastDns(bytes: Buffer): RecognizedService | null {
  if (bytes.length < header || ((bytes[2] as number) & 0xf8) !== 0x80) return null;
  const [questions, answers] = [bytes.readUInt16BE(4), bytes.readUInt16BE(6)];
  const others = bytes.readUInt16BE(8) + bytes.readUInt16BE(10);
  if (questions > 4 || answers > 1000 || others > 1000) return null;
  let at = header;
  for (let question = 0; question < questions; question++) {
    const name = nameAt(bytes, at);
    if (!name) return null;
    at = name.end + 4;
  }
  const words = new MulticastWords();
  for (let count = Math.min(answers + others, recordLimit); count > 0; count--) {
    const name = nameAt(bytes, at);
    if (!name || name.end + 10 > bytes.length) break;
    const [type, length] = [bytes.readUInt16BE(name.end), bytes.readUInt16BE(name.end + 8)];
    words.add(bytes, name.labels, type, name.end + 10, length);
    at = name.end + 10 + length;
  }
  const evidence = words.evidence();
  const proof = evidence.map(([, text]) => text.replaceAll('\n', ' ')).join('; ') || 'multicast DNS response';
  return { service: 'mdns', evidence, proof };
}

class MulticastWords {
  readonly #services = new Set<string>();
  readonly #hosts = new Set<string>();
  readonly #instances = new Set<string>();
  readonly #texts: string[] = [];
  #hostInfo = '';

  add(bytes: Buffer, owner: string[], type: number, at: number, length: number): void {
    if (at + length > bytes.length) return;
    if (type === typePointer) this.#addPointer(owner, nameAt(bytes, at)?.labels);
    else if (type === typeService && length > 6) this.#addHost(nameAt(bytes, at + 6)?.labels);
    else if (type === typeHostInfo) this.#hostInfo = strings(bytes.subarray(at, at + length)).join(' ');
    else if (type === typeText) this.#texts.push(...strings(bytes.subarray(at, at + length)).filter(isPlain));
  }

  #addPointer(owner: string[], target: string[] | undefined): void {
    if (!target) return;
    if (owner.at(-1) === 'arpa') this.#addHost(target);
    else if (owner[0] === '_services') this.#services.add(target.slice(0, 2).join('.'));
    else if (target.length > 2) this.#instances.add(target[0] as string);
  }

  #addHost(labels: string[] | undefined): void {
    const name = labels?.join('.') ?? '';
    if (/^[\w-][\w.-]{0,250}\.local$/.test(name)) this.#hosts.add(name);
  }

  evidence(): RecognizedService['evidence'] {
    const evidence: RecognizedService['evidence'] = [];
    const put = (key: string, values: Iterable<string>) => {
      const text = [...values].filter(isPlain).join('\n').slice(0, textLimit);
      if (text !== '') evidence.push([key, text]);
    };
    put('mdns.host', this.#hosts);
    put('mdns.services', this.#services);
    put('mdns.instances', this.#instances);
    put('mdns.hinfo', [this.#hostInfo]);
    put('mdns.text', this.#texts);
    return evidence;
  }
}

const isPlain = (text: string) => /^[^\0-\x1f\x7f]+$/.test(text);

/** A sequence of strings, each with a one-byte length. */
function strings(data: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at < data.length && found.length < recordLimit; ) {
    const length = data[at] as number;
    found.push(data.toString('utf8', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return found;
}
