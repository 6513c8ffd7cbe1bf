import { type Banner, tlsRejection } from '../../domain/text/banner.ts';
import { wantsTls } from '../probes/first-bytes.ts';
import { parseBinaryService, parseDatagramService } from '../protocols/binary-service.ts';
import { parseClassicService } from '../protocols/classic-service.ts';
import { parseClusterService } from '../protocols/cluster-service.ts';
import { parseControlSystem } from '../protocols/control-system.ts';
import { parseDatabase } from '../protocols/database.ts';
import { parseDns } from '../protocols/dns.ts';
import { type FtpRecord, parseFtp } from '../protocols/ftp.ts';
import { type HttpRecord, parseHttp } from '../protocols/http.ts';
import { buildLines, namedProduct, pageText, serverProducts } from '../protocols/http-text.ts';
import { versionText } from '../protocols/http-version-text.ts';
import { parseInstrument } from '../protocols/instrument-service.ts';
import { parseKeyValueStore } from '../protocols/key-value-store.ts';
import { parseMailbox } from '../protocols/mailbox.ts';
import { parseMediaService } from '../protocols/media-service.ts';
import { parseMumble } from '../protocols/mumble.ts';
import { parseNetworkService } from '../protocols/network-service.ts';
import { isEcho, isSecure, repeatsRequest, sentRequests, serverBytes } from '../protocols/probe-session.ts';
import type { RecognizedService } from '../protocols/recognized-service.ts';
import { withoutStatusCodes } from '../protocols/reply.ts';
import { parseSmtp, type SmtpRecord } from '../protocols/smtp.ts';
import { parseSsh, type SshRecord } from '../protocols/ssh.ts';
import { parseTls, type TlsRecord } from '../protocols/tls.ts';
import { faviconName, iconPrints } from '../requests/favicon.ts';
import { malformedRequestName } from '../requests/http-request.ts';
import { udpServiceOf } from '../requests/udp-probes.ts';
import { matchInputLimit } from './matcher.ts';

/** The facts of a banner before any product is recognized. */
export interface Observation {
  /** The detected protocol, by its name without TLS; null = not recognized. */
  service: string | null;
  /** Certainty of the protocol, 0..1. */
  certainty: number;
  /** The connection was TLS from its first byte. */
  secure: boolean;
  /** The first line, as evidence of the protocol. */
  proof: string;
  /** Text by evidence key: `ssh.software`, `http.header.server`, `tls.subject`, `banner.raw`, ... */
  evidence: Map<string, string>;
}

/** Characters searched at the end of a long page. */
const footLimit = 2048;
/** Maximum length of stored evidence, characters. */
export const evidenceLimit = 256;

/** Parses a banner with every protocol parser; null when the service sent nothing and showed no TLS. */
export function observe(banner: Banner): Observation | null {
  const bytes = serverBytes(banner);
  if (bytes.length === 0 && !banner.tls) return refusedHandshake(banner);
  const evidence = new Map<string, string>();
  const observation: Observation = {
    service: null,
    certainty: 0,
    secure: isSecure(banner),
    proof: '',
    evidence,
  };
  if (isEcho(banner)) {
    Object.assign(observation, {
      service: 'echo',
      certainty: 0.8,
      proof: 'the response repeats the request',
    });
  } else if (bytes.length > 0) {
    evidence.set('banner.raw', bytes.toString('latin1', 0, matchInputLimit));
    Object.assign(observation, readProtocol(banner, bytes, evidence));
    const refused = observation.service === null && wantsTls(bytes) ? refusedHandshake(banner) : null;
    if (refused) Object.assign(observation, { ...refused, evidence });
  }
  if (banner.tls) addTlsEvidence(evidence, parseTls(banner.tls));
  if (observation.service === null && banner.tls) {
    observation.service = 'tls';
    observation.certainty = 0.5;
    observation.proof = `${banner.tls.version} ${banner.tls.cipher}`.slice(0, evidenceLimit);
  }
  return observation;
}

/** Only a TLS server responds to a handshake with an alert. */
function refusedHandshake({ tls_error: reason }: Banner): Observation | null {
  if (!reason?.startsWith(tlsRejection)) return null;
  return { service: 'tls', certainty: 0.5, secure: true, proof: reason, evidence: new Map() };
}

type Recognition = Pick<Observation, 'service' | 'certainty' | 'proof'>;

function readProtocol(banner: Banner, bytes: Buffer, evidence: Map<string, string>): Recognition {
  if (banner.protocol === 'udp') return readDatagram(banner, bytes, evidence);
  // A SOCKS proxy's response to an HTTP request is no evidence of a web server.
  if (banner.probe === 'socks-http') return { service: 'socks5', certainty: 0.6, proof: '' };
  const http = parseHttp(bytes, undefined, banner.probe === 'http');
  if (http && banner.probe === faviconName) return addIconEvidence(evidence, http);
  if (http) return addHttpEvidence(evidence, http, bytes, banner.probe);
  const ssh = parseSsh(bytes);
  if (ssh) return addSshEvidence(evidence, ssh);
  const smtp = parseSmtp(bytes);
  if (smtp) return addSmtpEvidence(evidence, smtp);
  const ftp = parseFtp(bytes, sentRequests(banner));
  if (ftp) return addFtpEvidence(evidence, ftp);
  const mailbox = parseMailbox(bytes, banner.probe);
  if (mailbox) {
    evidence.set(`${mailbox.service}.greeting`, mailbox.greeting);
    if (mailbox.id !== undefined) evidence.set('imap.id', mailbox.id);
    return { service: mailbox.service, certainty: 0.8, proof: mailbox.line.slice(0, evidenceLimit) };
  }
  const record = parseKeyValueStore(bytes) ?? parseDatabase(bytes, banner.probe);
  if (record) return addRecognized(evidence, { ...record, proof: record.evidence[0]?.[1] ?? '' });
  const binary =
    parseControlSystem(bytes, banner.probe) ??
    parseClusterService(bytes, banner.probe) ??
    parseNetworkService(bytes, banner.probe) ??
    parseMediaService(bytes, banner.probe) ??
    parseInstrument(bytes, banner.probe) ??
    parseBinaryService(bytes, banner.probe) ??
    parseMumble(bytes) ??
    parseClassicService(bytes);
  if (binary) return addRecognized(evidence, binary);
  const dns = readDns(banner, bytes, evidence);
  if (dns) return dns;
  const greeting = banner.probe === 'null' ? greetingLine(bytes) : null;
  if (greeting !== null) evidence.set('greeting.line', greeting);
  return { service: null, certainty: 0, proof: '' };
}

/** The first line of text that an unrecognized service sent unprompted; null when it did not begin with one. */
function greetingLine(bytes: Buffer): string | null {
  const line = /^\s{0,16}([\x20-\x7e]{3,256})(?:[\r\n]|$)/.exec(bytes.toString('latin1', 0, 512))?.[1];
  const code = Number(/^\d{3}(?=[ -])/.exec(line?.trim() ?? '')?.[0] ?? 0);
  return line === undefined ? null : withoutStatusCodes(code, line.trim());
}

/** The probe selects the parser of a UDP response: most formats are short, and one looks like HTTP. */
function readDatagram(banner: Banner, bytes: Buffer, evidence: Map<string, string>): Recognition {
  const binary = parseDatagramService(bytes, banner.probe);
  if (binary) return addRecognized(evidence, binary);
  const dns = readDns(banner, bytes, evidence);
  if (dns) return dns;
  // Only a response of the protocol is one: not a text around the request.
  const service = repeatsRequest(banner) ? null : udpServiceOf(banner.probe);
  return { service, certainty: service === null ? 0 : 0.6, proof: '' };
}

function readDns(banner: Banner, bytes: Buffer, evidence: Map<string, string>): Recognition | null {
  const dns = /dns|domain/i.test(banner.probe) ? parseDns(bytes, banner.protocol) : null;
  if (!dns) return null;
  const text = dns.version;
  if (text !== null) evidence.set(banner.probe.startsWith('dns-id') ? 'dns.identity' : 'dns.version', text);
  if (dns.ownZone) evidence.set('dns.zone', 'the text stands in a zone of its own');
  return { service: 'dns', certainty: 0.8, proof: (dns.version ?? '').slice(0, evidenceLimit) };
}

function addRecognized(evidence: Map<string, string>, record: RecognizedService): Recognition {
  for (const [key, text] of record.evidence) evidence.set(key, text);
  const { service, certainty = 0.8, proof } = record;
  return { service, certainty, proof: proof.slice(0, evidenceLimit) };
}

function addHttpEvidence(
  evidence: Map<string, string>,
  { facts, body }: HttpRecord,
  bytes: Buffer,
  probe: string,
): Recognition {
  for (const [name, value] of Object.entries(facts.headers)) evidence.set(`http.header.${name}`, value);
  if (facts.title) evidence.set('http.title', facts.title);
  if (facts.generator) evidence.set('http.generator', facts.generator);
  if (facts.cookies.length > 0) {
    evidence.set('http.cookies', facts.cookies.join(' '));
    // The form that imported rules expect; cookie values are private and left out.
    evidence.set('http.set-cookie', facts.cookies.map((name) => `${name}=`).join('\n'));
  }
  if (body.length > 0) {
    const page = pageText(body);
    evidence.set('http.body', page.slice(0, matchInputLimit));
    // Many pages name their software at the end.
    if (page.length > matchInputLimit) evidence.set('http.foot', page.slice(-footLimit));
    const builds = buildLines(page);
    if (builds !== '') evidence.set('http.build-info', builds);
    const versions = versionText(page);
    if (versions !== '') evidence.set('http.version-text', versions);
  }
  if (facts.server) {
    const products = serverProducts(facts.server);
    if (products.length > 0) evidence.set('http.component', products.join('\n'));
    const named = namedProduct(facts.server);
    if (named !== null) evidence.set('http.product', named);
  }
  // Servers word their syntax errors differently, even those that hide their name.
  if (probe === malformedRequestName && facts.status >= 400)
    evidence.set('http.refusal', bytes.toString('latin1', 0, matchInputLimit));
  const realm = facts.auth.find((challenge) => challenge.realm)?.realm;
  if (realm) evidence.set('http.realm', realm);
  return { service: 'http', certainty: 0.8, proof: httpEvidence(facts) };
}

/** The pages have the rest. */
function addIconEvidence(evidence: Map<string, string>, record: HttpRecord): Recognition {
  const icon = iconPrints(record);
  if (icon) {
    evidence.set('http.favicon.sha256', icon.sha256);
    evidence.set('http.favicon.md5', icon.md5);
    evidence.set('http.favicon.mmh3', String(icon.mmh3));
  }
  return { service: 'http', certainty: 0.8, proof: httpEvidence(record.facts) };
}

function httpEvidence({ version, status, reason }: HttpRecord['facts']): string {
  if (version === '0.9') return 'page without a status line (HTTP/0.9)';
  return `HTTP/${version} ${status} ${reason}`.trim().slice(0, evidenceLimit);
}

function addSshEvidence(evidence: Map<string, string>, { facts, line }: SshRecord): Recognition {
  const text = facts.comment ? `${facts.software} ${facts.comment}` : facts.software;
  evidence.set('ssh.software', text);
  return { service: 'ssh', certainty: 0.8, proof: line.slice(0, evidenceLimit) };
}

function addSmtpEvidence(evidence: Map<string, string>, { facts, lmtp, help }: SmtpRecord): Recognition {
  if (lmtp) {
    evidence.set('lmtp.greeting', withoutStatusCodes(facts.code, facts.greeting));
    return { service: 'lmtp', certainty: 0.8, proof: greetingEvidence(facts) };
  }
  evidence.set('smtp.greeting', withoutStatusCodes(facts.code, facts.greeting));
  if (help !== undefined) evidence.set('smtp.help', help);
  if (facts.extensions) evidence.set('smtp.extensions', facts.extensions.join('\n'));
  return { service: 'smtp', certainty: 0.8, proof: greetingEvidence(facts) };
}

function addFtpEvidence(evidence: Map<string, string>, { facts }: FtpRecord): Recognition {
  evidence.set('ftp.greeting', facts.greeting);
  if (facts.features) evidence.set('ftp.features', facts.features.join('\n'));
  if (facts.system) evidence.set('ftp.system', facts.system);
  return { service: 'ftp', certainty: 0.8, proof: greetingEvidence(facts) };
}

function greetingEvidence({ code, greeting }: { code: number; greeting: string }): string {
  return `${code} ${greeting.split('\n', 1)[0]}`.slice(0, evidenceLimit);
}

function addTlsEvidence(evidence: Map<string, string>, { facts }: TlsRecord): void {
  const { certificate } = facts;
  if (facts.alpn) evidence.set('tls.alpn', facts.alpn);
  if (facts.hello_prints?.length) evidence.set('tls.hello', facts.hello_prints.join(' '));
  if (!certificate || 'error' in certificate) return;
  evidence.set('tls.subject', certificate.subject);
  evidence.set('tls.issuer', certificate.issuer);
  evidence.set('tls.pair', `${certificate.subject} < ${certificate.issuer}`);
  if (certificate.sans.length > 0) evidence.set('tls.sans', certificate.sans.join(' '));
}
