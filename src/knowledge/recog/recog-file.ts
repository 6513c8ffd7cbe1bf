import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { FieldProblem } from '../../domain/errors.ts';
import type { CpeName, CpePart } from '../products/cpe.ts';
import { valueLimit } from '../rules/rule-catalog.ts';
import { formProblems, maxSignatures, type PlacedSignature, rejection } from '../rules/signature-file.ts';
import type { Signature, SignatureExample } from '../signatures/signature.ts';
import { readXml, type XmlElement, XmlProblem } from './xml-reader.ts';

/** The evidence that a database of Recog reads, as it is called here; the others keep their own names. */
const sourceByMatches: Record<string, string> = {
  'dns.versionbind': 'dns.version',
  'favicon.md5': 'http.favicon.md5',
  'ftp.banner': 'ftp.greeting',
  html_title: 'http.title',
  'http_header.cookie': 'http.set-cookie',
  'http_header.server': 'http.header.server',
  'http_header.wwwauth': 'http.header.www-authenticate',
  'http_header.x-powered-by': 'http.header.x-powered-by',
  'imap4.banner': 'imap.greeting',
  'ldap.search_result': 'ldap.rootdse',
  'mysql.banners': 'mysql.greeting',
  'nntp.banner': 'nntp.greeting',
  'ntp.readvar': 'ntp.readvar',
  'pop3.banner': 'pop3.greeting',
  'rtsp_header.server': 'rtsp.server',
  'sip_header.server': 'sip.server',
  'sip_header.user_agent': 'sip.user-agent',
  'smb.native_lm': 'smb.native-lm',
  'smb.native_os': 'smb.native-os',
  'smtp.banner': 'smtp.greeting',
  'snmp.sys_description': 'snmp.sysdescr',
  'snmp.sys_object_id': 'snmp.sysobjectid',
  'ssh.banner': 'ssh.software',
  'tls.jarm': 'tls.jarm',
  'x11.vendor': 'x11.vendor',
  'x509.issuer': 'tls.issuer',
  'x509.subject': 'tls.subject',
};

/** Databases without `matches`, by file name. */
const sourceByDatabase: Record<string, string> = { 'telnet-banners': 'telnet.greeting' };

const serviceByProtocol: Record<string, string | null> = { x509: null, tls: null, dhcp: null, pjl: null };

const categoryByProtocol: Record<string, string> = {
  ssh: 'remote-access',
  telnet: 'remote-access',
  rsh: 'remote-access',
  x11: 'remote-access',
  http: 'web',
  smtp: 'mail',
  imap: 'mail',
  pop3: 'mail',
  ftp: 'file-transfer',
  smb: 'file-transfer',
  mysql: 'database',
  dns: 'name-server',
  x509: 'certificate',
  tls: 'certificate',
};

/** Evidence whose text is decoded; of everything else one character stands for one byte. */
const decodedSources = new Set(['http.title', 'tls.subject', 'tls.issuer']);

/** Prints that many different products share. */
const sharedPrints = new Set(['http.favicon.md5', 'tls.jarm']);

/** What a match is worth where neither the rule nor its database says so. */
const usualCertainty = 0.85;
const sharedCertainty = 0.5;

/**
 * Reads a database of fingerprints in the XML format of Recog (`<fingerprints matches="..." protocol="...">`). Patterns
 * are written for Ruby: `^` and `$` are always those of lines, and `m` lets the dot match line ends. Texts count as
 * bytes. Forms are checked; patterns are neither compiled nor tried.
 *
 * @throws PortolanError `configuration` naming every problem with its line
 */
export function parseRecog(text: string, file: string): PlacedSignature[] {
  const root = rootOf(text, file);
  const database = databaseOf(root, file);
  const problems: FieldProblem[] = [];
  const signatures: PlacedSignature[] = [];
  const ids = new Map<string, number>();
  for (const element of root.children) {
    try {
      const signature = signatureOf(element, database);
      const times = (ids.get(signature.id) ?? 0) + 1;
      ids.set(signature.id, times);
      if (times > 1) signature.id += `-${times}`;
      for (const { field, reason } of formProblems(signature, 0)) {
        problems.push({ field: `${file}:${element.line}`, reason: `${field} ${reason}` });
      }
      signatures.push({ signature, place: `${file}:${element.line}` });
    } catch (error) {
      if (!(error instanceof XmlProblem)) throw error;
      problems.push({ field: `${file}:${error.line}`, reason: error.message });
    }
  }
  if (signatures.length > maxSignatures) {
    problems.push({ field: `${file}:1`, reason: `holds more than ${maxSignatures} fingerprints` });
  }
  if (problems.length > 0) throw rejection(file, problems);
  return signatures;
}

function rootOf(text: string, file: string): XmlElement {
  try {
    const root = readXml(text);
    if (root.name !== 'fingerprints')
      throw new XmlProblem(`<${root.name}>, expected <fingerprints>`, root.line);
    return root;
  } catch (error) {
    if (error instanceof XmlProblem)
      throw rejection(file, [{ field: `${file}:${error.line}`, reason: error.message }]);
    throw error;
  }
}

interface Database {
  name: string;
  protocol: string | null;
  source: string;
  service: string | null;
  category: string;
  /** 0..1: how good its matches are beside those of other databases. */
  preference: number;
  /** Its rules tell operating systems and nothing of services. */
  systems: boolean;
}

function databaseOf({ attributes }: XmlElement, file: string): Database {
  const name =
    basename(file)
      .replace(/\.xml$/i, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 40) || 'unnamed';
  const matches = attributes.get('matches');
  const source = matches === undefined ? sourceByDatabase[name] : sourceByMatches[matches];
  const web = source?.startsWith('http.') ? 'http' : null;
  const protocol = attributes.get('protocol') ?? web;
  const systems = attributes.get('database_type') === 'util.os';
  const preference = fractionOf(attributes.get('preference')) ?? 0.8;
  return {
    name,
    protocol,
    source: source ?? `recog.${(matches ?? name).replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 60)}`,
    service: protocol === null || systems ? null : serviceOf(protocol),
    category: systems ? 'operating-system' : (categoryByProtocol[protocol ?? ''] ?? 'protocol'),
    preference,
    systems,
  };
}

function serviceOf(protocol: string): string | null {
  return protocol in serviceByProtocol ? (serviceByProtocol[protocol] ?? null) : protocol;
}

function fractionOf(text: string | undefined): number | null {
  if (text === undefined || !/^(?:0?\.\d{1,6}|1(?:\.0{1,6})?)$/.test(text)) return null;
  const value = Number(text);
  return value > 0 ? value : null;
}

function signatureOf(element: XmlElement, database: Database): Signature {
  if (element.name !== 'fingerprint') {
    throw new XmlProblem(`<${element.name}>, expected <fingerprint>`, element.line);
  }
  const written = decodedSources.has(database.source) ? (text: string) => text : bytesOf;
  const { pattern, flags } = patternOf(element, written);
  const parameters = parametersOf(element);
  const cpe = cpeOf(parameters.get('service.cpe23'), parameters);
  const vendor = parameters.get('service.vendor');
  const product = database.systems ? null : (parameters.get('service.product') ?? null);
  const version = parameters.get('service.version');
  const description = element.children.find(({ name }) => name === 'description')?.text.trim();
  const os = systemOf(parameters);
  const hardware = hardwareOf(parameters);
  const digest = createHash('sha256')
    .update(`${database.source} ${flags} ${pattern}`)
    .digest('hex')
    .slice(0, 8);
  return {
    id: `recog.${database.name}.${digest}`,
    ...(description ? { description: description.replace(/\s+/g, ' ').slice(0, 200) } : {}),
    category: database.category,
    service: database.service,
    source: database.source,
    pattern,
    flags,
    product,
    vendor: product === null ? null : (cpe?.vendor ?? vendor?.toLowerCase().replaceAll(' ', '_') ?? null),
    ...(product !== null && version !== undefined ? { version } : {}),
    ...(product !== null && cpe ? { cpe } : {}),
    certainty: certaintyOf(element, parameters, database, product !== null),
    ...(os ? { os } : {}),
    ...(hardware ? { hardware } : {}),
    facts: Object.fromEntries([...parameters].filter(([name]) => !name.endsWith('.certainty'))),
    examples: examplesOf(element, written, parameters),
  };
}

type Encode = (text: string) => string;

function patternOf({ attributes, line }: XmlElement, encode: Encode): { pattern: string; flags: string } {
  const written = attributes.get('pattern');
  if (!written) throw new XmlProblem('the fingerprint has no pattern', line);
  let flags = 'm';
  for (const flag of (attributes.get('flags') ?? '').split(/[,\s|]+/).filter((name) => name !== '')) {
    if (flag === 'REG_ICASE') flags += 'i';
    else if (flag === 'REG_DOT_NEWLINE' || flag === 'REG_MULTILINE') flags += flags.includes('s') ? '' : 's';
    else throw new XmlProblem(`unknown flag ${flag}`, line);
  }
  return { pattern: encode(fromRuby(written)), flags };
}

/** In Ruby the inline flag `m` is what others call `s`. */
function fromRuby(pattern: string): string {
  return pattern.replace(/(\\.)|\(\?([imx]*)(-[imx]*)?([:)])/gs, (all, escaped, on, off, end) => {
    if (escaped !== undefined || (on === '' && off === undefined)) return all;
    return `(?${on.replace('m', 's')}${(off ?? '').replace('m', 's')}${end}`;
  });
}

/** One character for each byte of the text as UTF-8. */
function bytesOf(text: string): string {
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** Templates by parameter; references to other parameters are replaced by theirs. */
function parametersOf({ children }: XmlElement): Map<string, string> {
  const written = new Map<string, string>();
  for (const { name, attributes, line } of children) {
    if (name === 'description' || name === 'example') continue;
    if (name !== 'param') throw new XmlProblem(`unknown element <${name}>`, line);
    const parameter = attributes.get('name');
    const position = attributes.get('pos') ?? '';
    if (!parameter || !/^\d{1,2}$/.test(position))
      throw new XmlProblem('a param requires name and pos', line);
    const value = position === '0' ? attributes.get('value') : `{${Number(position)}}`;
    if (value === undefined) throw new XmlProblem(`the param ${parameter} has no value`, line);
    written.set(parameter, value);
  }
  return new Map([...written].map(([name, value]) => [name, resolved(value, written, 0)]));
}

function resolved(value: string, parameters: ReadonlyMap<string, string>, depth: number): string {
  return value.replace(/\{([A-Za-z][A-Za-z0-9_.-]*)\}/g, (_, name: string) => {
    const other = depth < 4 ? parameters.get(name) : undefined;
    return other === undefined ? '' : resolved(other, parameters, depth + 1);
  });
}

/** A CPE 2.2 URI whose values are templates; its last empty or `-` values say nothing. */
function cpeOf(uri: string | undefined, parameters: ReadonlyMap<string, string>): CpeName | null {
  const [, part, rest = ''] = /^cpe:\/([aoh]):(.+)$/.exec(uri ?? '') ?? [];
  const [vendor, product, version, update] = rest.split(':').map(decoded);
  if (part === undefined || !vendor || !product) return null;
  // Some databases write the version into the name and others leave it out although they know it.
  const known = version && version !== '-' ? version : parameters.get('service.version');
  return {
    part: part as CpePart,
    vendor,
    product,
    ...(known ? { version: known } : {}),
    ...(update && update !== '-' ? { update } : {}),
  };
}

function decoded(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

const familyByName: Record<string, string> = {
  'mac os x': 'macos',
  'mac os': 'macos',
  unix: 'unix',
};

const distributions = new Set([
  'alpine',
  'amazon',
  'arch',
  'centos',
  'debian',
  'fedora',
  'gentoo',
  'mandrake',
  'mandriva',
  'opensuse',
  'oracle',
  'raspbian',
  'red hat',
  'slackware',
  'suse',
  'turbolinux',
  'ubuntu',
]);

function systemOf(parameters: ReadonlyMap<string, string>): Signature['os'] | null {
  const product = parameters.get('os.product') ?? '';
  const named = parameters.get('os.family') ?? product;
  if (named === '' || named.includes('{')) return null;
  const version = parameters.get('os.version');
  const maker = (parameters.get('os.vendor') ?? '').toLowerCase().replace(/ project$/, '');
  if (named === 'Windows') return windowsOf(product, version);
  if (named === 'iOS' && maker === 'apple') return { family: 'ios', ...(version ? { version } : {}) };
  if (named === 'IOS' && maker === 'cisco') return { family: 'cisco ios', ...(version ? { version } : {}) };
  const family = familyByName[named.toLowerCase()] ?? named.toLowerCase();
  const known = family === 'linux' && distributions.has(maker);
  const distribution = known ? (maker === 'red hat' ? 'rhel' : maker) : null;
  // The version of a firmware or of an unknown distribution is none of Linux.
  const stated = version !== undefined && (family !== 'linux' || distribution !== null);
  return { family, ...(distribution ? { distribution } : {}), ...(stated ? { version } : {}) };
}

/** `Windows Server 2012 R2` has its version in its name. */
function windowsOf(product: string, version: string | undefined): Signature['os'] {
  const [, server, release] =
    /^Windows( Server)? (\d{4}(?: R2)?|\d{1,2}(?:\.\d)?|XP|Vista|NT|ME|CE)\b/.exec(product) ?? [];
  if (release === undefined) return { family: 'windows', ...(version ? { version } : {}) };
  return { family: 'windows', ...(server ? { distribution: 'windows server' } : {}), version: release };
}

const deviceTypes: Record<string, string> = {
  'broadband router': 'router',
  'cable modem': 'router',
  desktop: 'workstation',
  dvr: 'camera',
  firewall: 'firewall',
  hypervisor: 'hypervisor',
  'ip camera': 'camera',
  laptop: 'workstation',
  'load balancer': 'load_balancer',
  'mobile phone': 'phone',
  'multifunction device': 'printer',
  nas: 'nas',
  plc: 'iot',
  'print server': 'printer',
  printer: 'printer',
  router: 'router',
  'security appliance': 'firewall',
  'sip device': 'phone',
  'smart tv': 'iot',
  switch: 'switch',
  voip: 'phone',
  wap: 'router',
  'web cam': 'camera',
};

function hardwareOf(parameters: ReadonlyMap<string, string>): Signature['hardware'] | null {
  const device = parameters.get('hw.device') ?? parameters.get('os.device') ?? '';
  const type = deviceTypes[device.toLowerCase()];
  const vendor = parameters.get('hw.vendor');
  const product = parameters.get('hw.product') ?? parameters.get('hw.model');
  if (type === undefined && vendor === undefined && product === undefined) return null;
  return { ...(type ? { type } : {}), ...(vendor ? { vendor } : {}), ...(product ? { product } : {}) };
}

/** Rounded to two places: what the rule says of itself, a little less where its database is one of the weaker ones. */
function certaintyOf(
  { attributes }: XmlElement,
  parameters: ReadonlyMap<string, string>,
  { source, preference }: Database,
  named: boolean,
): number {
  const subjects = named ? ['service'] : ['os', 'hw', 'service'];
  const stated = subjects.flatMap((subject) => fractionOf(parameters.get(`${subject}.certainty`)) ?? [])[0];
  const usual = sharedPrints.has(source) ? sharedCertainty : usualCertainty;
  const own = stated ?? fractionOf(attributes.get('certainty')) ?? usual;
  return Math.max(0.01, Math.round(own * (0.8 + 0.2 * preference) * 100) / 100);
}

/** Blanks around a value do not count, here as in every value that a signature gives; an empty one expects nothing. */
function examplesOf(
  { children }: XmlElement,
  encode: Encode,
  parameters: ReadonlyMap<string, string>,
): SignatureExample[] {
  // Constants are text for people; what a group took out of bytes is bytes.
  const isRead = (name: string) => /\{\d/.test(parameters.get(name) ?? '');
  return children
    .filter(({ name }) => name === 'example')
    .map(({ attributes, text, line }) => {
      const encoding = attributes.get('_encoding');
      if (encoding !== undefined && encoding !== 'base64') {
        throw new XmlProblem(`unknown encoding ${encoding} of an example`, line);
      }
      const expected = [...attributes]
        .filter(([name]) => !name.startsWith('_'))
        .map(
          ([name, value]) =>
            [name, (isRead(name) ? encode(value) : value).trim().slice(0, valueLimit)] as const,
        )
        .filter(([, value]) => value !== '');
      return {
        text: encoding === 'base64' ? Buffer.from(text, 'base64').toString('latin1') : encode(text),
        ...(expected.length > 0 ? { facts: Object.fromEntries(expected) } : {}),
      };
    });
}

/** Whether a file looks like one of this format: it need not be well-formed. */
export function looksLikeRecog(text: string): boolean {
  return /^\uFEFF?\s*<(?:\?xml|!--|fingerprints)/.test(text.slice(0, 200));
}
