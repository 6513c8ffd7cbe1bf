import { createHash } from 'node:crypto';
import { readGroupBits, readHostKey, type SshHostKey } from '../ssh/host-key-request.ts';

/** Maximum number of lines before the identification line (RFC 4253, 4.2). */
const preambleLineLimit = 64;
/** Maximum length of the identification line and of each line before it, bytes; the RFC allows 255. */
const identificationLimit = 1024;
/** Largest packet that is read (RFC 4253, 6.1: implementations must support 35000 bytes). */
const packetLimit = 35_000;
/** Names of one algorithm list. */
const algorithmLimit = 200;
/** Maximum length of an algorithm name, characters (RFC 4251, 6: at most 64). */
const algorithmNameLimit = 128;

const kexinit = 20;
const cookieLength = 16;

/** Facts about an SSH server. The lists are set if it sent KEXINIT. */
export interface SshFacts {
  /** Protocol version of the identification line: `2.0`, `1.99`. */
  version: string;
  software: string;
  comment: string | null;
  kex_algorithms?: string[];
  host_key_types?: string[];
  ciphers?: string[];
  macs?: string[];
  compression?: string[];
  /** MD5 over the server's lists in its own order, as the HASSH method defines it. */
  hassh_server?: string;
  /** Host key presented in a key exchange. */
  host_keys?: SshHostKey[];
  /** RSA host key, if requested from a server that presents another key first. */
  rsa_host_key?: SshHostKey;
  /** Prime size that the server chose when the client requested the shortest group, bits. */
  shortest_group?: number;
}

export interface SshRecord {
  facts: SshFacts;
  /** The identification line as received. */
  line: string;
  truncated: boolean;
}

/** Reads the identification line (RFC 4253, 4.2) and the KEXINIT packet (7.1) after it; null = not SSH. */
export function parseSsh(bytes: Buffer): SshRecord | null {
  const found = identificationLine(bytes);
  if (!found) return null;
  const match = /^SSH-(\d{1,2}\.\d{1,2})-([^ ]*)(?: (.*))?$/.exec(found.line);
  if (!match) return null;
  const facts: SshFacts = {
    version: match[1] as string,
    software: match[2] as string,
    comment: match[3]?.trim() || null,
  };
  const first = readPacket(bytes.subarray(found.end));
  const lists = first && parseKexInit(first.payload);
  if (lists) Object.assign(facts, lists);
  const reply = first && lists && readPacket(bytes.subarray(found.end + first.length));
  const key = reply && readHostKey(reply.payload);
  if (key) facts.host_keys = [key];
  const groupBits = key || !reply ? null : readGroupBits(reply.payload);
  if (groupBits !== null) facts.shortest_group = groupBits;
  return { facts, line: found.line, truncated: !found.complete };
}

function identificationLine(bytes: Buffer): { line: string; end: number; complete: boolean } | null {
  let position = 0;
  for (let count = 0; count < preambleLineLimit && position < bytes.length; count++) {
    const newline = bytes.subarray(position, position + identificationLimit).indexOf(0x0a);
    const complete = newline !== -1;
    const end = complete ? position + newline : Math.min(bytes.length, position + identificationLimit);
    const line = bytes.toString('latin1', position, end).replace(/\r$/, '');
    if (line.startsWith('SSH-')) return { line, end: complete ? end + 1 : end, complete };
    if (!complete) return null;
    position = end + 1;
  }
  return null;
}

type AlgorithmLists = Pick<
  Required<SshFacts>,
  'kex_algorithms' | 'host_key_types' | 'ciphers' | 'macs' | 'compression' | 'hassh_server'
>;

/** The unencrypted packet at the start of the bytes (RFC 4253, 6). */
function readPacket(bytes: Buffer): { payload: Buffer; length: number } | null {
  if (bytes.length < 6) return null;
  const packetLength = bytes.readUInt32BE(0);
  const padding = bytes[4] as number;
  if (packetLength > packetLimit || padding + 1 >= packetLength || bytes.length < 4 + packetLength)
    return null;
  return { payload: bytes.subarray(5, 4 + packetLength - padding), length: 4 + packetLength };
}

function parseKexInit(payload: Buffer): AlgorithmLists | null {
  if (payload[0] !== kexinit) return null;

  const lists: string[] = [];
  let position = 1 + cookieLength;
  for (let index = 0; index < 8; index++) {
    if (position + 4 > payload.length) return null;
    const length = payload.readUInt32BE(position);
    if (length > payload.length - position - 4) return null;
    lists.push(payload.toString('latin1', position + 4, position + 4 + length));
    position += 4 + length;
  }
  const [
    kex = '',
    hostKey = '',
    cipherIn = '',
    cipherOut = '',
    macIn = '',
    macOut = '',
    packIn = '',
    packOut = '',
  ] = lists;
  return {
    kex_algorithms: names(kex),
    host_key_types: names(hostKey),
    ciphers: names(cipherIn, cipherOut),
    macs: names(macIn, macOut),
    compression: names(packIn, packOut),
    hassh_server: createHash('md5').update([kex, cipherOut, macOut, packOut].join(';')).digest('hex'),
  };
}

/** The names of both directions, deduplicated, in the order received. */
function names(...lists: string[]): string[] {
  const seen = new Set<string>();
  for (const list of lists) {
    for (const name of list.split(',', algorithmLimit)) {
      if (name !== '') seen.add(name.slice(0, algorithmNameLimit));
    }
  }
  return [...seen].slice(0, algorithmLimit);
}
