import type { StackTraits } from '../../domain/host.ts';
import type { Fingerprint, ParsedService } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { furtherNames } from '../probes/probes.ts';
import { serverBytes } from '../protocols/probe-session.ts';
import { parseSsh } from '../protocols/ssh.ts';
import { parseCertificate } from '../protocols/tls.ts';
import { observe } from '../rules/evidence.ts';

/** A short text from a port or the network that describes its host. */
export interface HostFact {
  /** Kind of text: `ssh.software`, `http.title`, `product`, `mac.vendor`, ... */
  key: string;
  text: string;
  /** `22/tcp`, or `network` for facts from below the transport layer. */
  source: string;
}

/** Characters kept of a fact. */
const factLengthLimit = 2048;
/** Names kept of one certificate. */
const certificateNameLimit = 16;

/** Texts too long and too mixed to describe the host. */
const passedOver = new Set(['tls.pair', 'banner.raw', 'http.body', 'http.cookies', 'tls.sans']);

/** Facts from one response, read by all protocol parsers. */
export function factsOfBanner(banner: Banner): HostFact[] {
  const source = sourceOf(banner);
  const facts: HostFact[] = [];
  const add = (key: string, text: string) => facts.push(factOf(key, text, source));
  for (const [key, text] of observe(banner)?.evidence ?? []) {
    if (!passedOver.has(key)) add(key, text);
    if (key === 'banner.raw') for (const [inner, value] of headersOf(text)) add(inner, value);
  }
  // Identify the host by the key that every scan sees.
  if (facts.some(({ key }) => key === 'ssh.software') && !furtherNames.has(banner.probe)) {
    for (const key of parseSsh(serverBytes(banner))?.facts.host_keys ?? [])
      add('ssh.host_key', `${key.type} ${key.sha256}`);
  }
  const leaf = banner.tls?.chain[0];
  const certificate = leaf === undefined ? null : parseCertificate(leaf);
  if (certificate && !('error' in certificate)) {
    if (certificate.key_sha256) add('tls.key', certificate.key_sha256);
    for (const name of namesOfCertificate(certificate)) add('tls.name', String(name));
  }
  return facts;
}

/** Headers of SIP (RFC 3261) and RTSP (RFC 7826), and the text that a Telnet server prints (RFC 854). */
function headersOf(raw: string): [key: string, text: string][] {
  const protocol = /^(SIP|RTSP)\/\d/.exec(raw)?.[1]?.toLowerCase();
  if (protocol) {
    const headers = raw.matchAll(/^(server|user-agent)[ \t]*:[ \t]*([\x20-\x7e]{1,200})/gim);
    return [...headers].map(([, name = '', value = '']) => [`${protocol}.${name.toLowerCase()}`, value]);
  }
  if (!/^\xff[\xfb-\xfe]/.test(raw)) return [];
  const printed = raw
    .replace(/\xff[\xfb-\xfe][^]/g, '')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim();
  return printed === '' ? [] : [['telnet.greeting', printed]];
}

/** Parser attributes that are facts, by the keys that the response itself would give. */
const attributeKeys: Readonly<Record<string, string>> = {
  'http.title': 'http.title',
  'http.generator': 'http.generator',
  'http.headers.server': 'http.header.server',
  'http.headers.x-powered-by': 'http.header.x-powered-by',
  'smtp.greeting': 'smtp.greeting',
  'ftp.greeting': 'ftp.greeting',
  'ftp.system': 'ftp.system',
  'tls.certificate.subject': 'tls.subject',
  'tls.certificate.issuer': 'tls.issuer',
  'tls.certificate.key_sha256': 'tls.key',
};

/** Facts from the attributes that a parser extracted. */
export function factsOfService(service: ParsedService): HostFact[] {
  const source = sourceOf(service);
  const facts: HostFact[] = [];
  const add = (key: string, value: unknown) => {
    if (typeof value === 'string' && value !== '') facts.push(factOf(key, value, source));
  };
  for (const [path, key] of Object.entries(attributeKeys)) add(key, memberAt(service.attributes, path));
  const software = memberAt(service.attributes, 'ssh.software');
  const comment = memberAt(service.attributes, 'ssh.comment');
  if (typeof software === 'string') add('ssh.software', comment ? `${software} ${comment}` : software);
  for (const key of listAt(service.attributes, 'ssh.host_keys')) {
    const { type, sha256 } = (key ?? {}) as { type?: unknown; sha256?: unknown };
    if (typeof type === 'string' && typeof sha256 === 'string') add('ssh.host_key', `${type} ${sha256}`);
  }
  const certificate = memberAt(service.attributes, 'tls.certificate');
  for (const name of namesOfCertificate(certificate)) add('tls.name', name);
  const challenges = listAt(service.attributes, 'http.auth') as { realm?: unknown }[];
  add('http.realm', challenges.find((challenge) => typeof challenge?.realm === 'string')?.realm);
  return facts;
}

/** The alternative names of a certificate, else its common name. None of one that is expired or not valid yet. */
function namesOfCertificate(certificate: unknown): unknown[] {
  const at = (date: string) => Date.parse(String(memberAt(certificate, date)));
  if (at('not_after') < Date.now() || at('not_before') > Date.now()) return [];
  const names = listAt(certificate, 'sans').slice(0, certificateNameLimit);
  const common = /(?:^|, )CN=([^,=]+)$/.exec(String(memberAt(certificate, 'subject')))?.[1];
  return names.length > 0 || common === undefined ? names : [common];
}

/** The service and product of the port's best claim. */
export function factsOfFingerprint(fingerprint: Fingerprint): HostFact[] {
  const source = sourceOf(fingerprint);
  const { match, product, version } = fingerprint;
  const facts = [factOf('service', match, source)];
  if (product !== null) facts.push(factOf('product', version ? `${product} ${version}` : product, source));
  return facts;
}

/** Source of facts from SYN-ACK packets. */
export const stackSource = 'syn-ack';

/** Initial TTL values of operating systems; each router on the path decrements them. */
const firstHops = [64, 128, 255];
/** Maximum plausible number of routers between two hosts. */
const farthest = 32;

/** TCP traits of a SYN-ACK: `ttl 64, 3 routers, window 65160, mss 1460, scale 7, options mss sack ts nop ws, df`. */
export function factOfStack({
  hops,
  window,
  mss,
  scale,
  options,
  dont_fragment,
  ecn,
}: StackTraits): HostFact {
  const first = firstHops.find((value) => hops <= value && hops > value - farthest);
  const stated = [
    first === undefined ? `ttl unknown, ${hops} left` : `ttl ${first}, ${first - hops} routers`,
    `window ${window}`,
    `mss ${mss ?? 'none'}`,
    `scale ${scale ?? 'none'}`,
    `options ${options.join(' ') || 'none'}`,
  ];
  if (dont_fragment) stated.push('df');
  if (ecn) stated.push('ecn');
  return factOf('tcp.stack', stated.join(', '), stackSource);
}

export function sourceOf({ port, protocol }: Pick<Fingerprint, 'port' | 'protocol'>): string {
  return `${port}/${protocol}`;
}

function factOf(key: string, text: string, source: string): HostFact {
  return { key, text: text.slice(0, factLengthLimit), source };
}

function memberAt(value: unknown, path: string): unknown {
  let member = value;
  for (const name of path.split('.')) {
    if (typeof member !== 'object' || member === null || !Object.hasOwn(member, name)) return undefined;
    member = (member as Record<string, unknown>)[name];
  }
  return member;
}

function listAt(value: unknown, path: string): unknown[] {
  const member = memberAt(value, path);
  return Array.isArray(member) ? member : [];
}
