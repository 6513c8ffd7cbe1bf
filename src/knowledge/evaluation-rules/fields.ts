import { orderOperators, type RuleOperator, versionOperators } from './rule.ts';

/** `any`: a fact of another parser; its type is unknown until it is seen. */
export type FieldType = 'text' | 'number' | 'flag' | 'version' | 'date' | 'any';

export interface RuleField {
  type: FieldType;
  description: string;
  /** A later record may replace the value, so that it counts only when everything about the port is known. */
  late?: boolean;
}

/** Every field by name; lists have the type of their elements. */
export const ruleFields: Readonly<Record<string, RuleField>> = {
  host: { type: 'text', description: 'address of the host' },
  port: { type: 'number', description: 'port number' },
  protocol: { type: 'text', description: '`tcp` or `udp`' },
  banner: {
    type: 'text',
    description: 'responses of the port, bytes that are not printable as `\\xNN`; a list',
  },
  service: { type: 'text', description: 'name of the service: `ssh`, `https`', late: true },
  product: { type: 'text', description: 'product behind the port', late: true },
  vendor: { type: 'text', description: 'vendor of the product', late: true },
  version: { type: 'version', description: 'version of the product', late: true },
  cpe: { type: 'text', description: 'CPE 2.3 name of the product', late: true },
  'os.family': { type: 'text', description: 'operating system of the host: `linux`', late: true },
  'os.distribution': { type: 'text', description: 'its distribution: `debian`', late: true },
  'os.version': { type: 'version', description: 'its version', late: true },
  device_type: { type: 'text', description: 'class of the host: `printer`, `router`', late: true },

  http: { type: 'flag', description: 'true if the port speaks HTTP' },
  'http.version': { type: 'version', description: 'version of the protocol' },
  'http.status': { type: 'number', description: 'status of the response to the root page' },
  'http.reason': { type: 'text', description: 'text after the status' },
  'http.server': { type: 'text', description: 'header `Server`' },
  'http.title': { type: 'text', description: 'title of the page' },
  'http.body': { type: 'text', description: 'start of the page, 64 KiB' },
  'http.body_size': { type: 'number', description: 'size of the page, bytes' },
  'http.body_sha256': { type: 'text', description: 'SHA-256 of the page, hex' },
  'http.location': { type: 'text', description: 'target of a redirect' },
  'http.cookies': { type: 'text', description: 'names of the cookies; a list' },
  'http.auth': { type: 'text', description: 'schemes of required authentication; a list' },
  'http.generator': { type: 'text', description: 'generator that the page names' },
  'http.technologies': { type: 'text', description: 'names of recognized technologies; a list' },

  tls: { type: 'flag', description: 'true if the port speaks TLS' },
  'tls.version': { type: 'text', description: 'negotiated version: `TLSv1.3`' },
  'tls.versions': { type: 'text', description: 'observed versions; a list' },
  'tls.cipher': { type: 'text', description: 'negotiated cipher suite' },
  'tls.cipher_suites': { type: 'text', description: 'observed cipher suites; a list' },
  'tls.groups': { type: 'text', description: 'accepted key exchange groups; a list' },
  'tls.client_certificate': { type: 'text', description: '`required` or `requested` of the client' },
  'tls.error': { type: 'text', description: 'why the handshake did not complete' },
  'tls.alpn': { type: 'text', description: 'negotiated application protocol' },
  'tls.alpn_protocols': { type: 'text', description: 'accepted application protocols; a list' },
  'tls.subject': { type: 'text', description: 'subject of the certificate' },
  'tls.sans': { type: 'text', description: 'its alternative names; a list' },
  'tls.issuer': { type: 'text', description: 'its issuer' },
  'tls.not_before': { type: 'date', description: 'start of its validity' },
  'tls.not_after': { type: 'date', description: 'end of its validity' },
  'tls.expired': { type: 'flag', description: 'true if the validity has ended' },
  'tls.self_signed': { type: 'flag', description: 'true if the certificate is signed with its own key' },
  'tls.ca': { type: 'flag', description: 'true if the certificate may sign others' },
  'tls.serial': { type: 'text', description: 'its serial number, hex, upper case' },
  'tls.key_type': { type: 'text', description: '`RSA`, `EC`, `Ed25519`' },
  'tls.key_bits': { type: 'number', description: 'size of its key' },
  'tls.signature': { type: 'text', description: 'its signature algorithm' },
  'tls.ticket_lifetime': { type: 'number', description: 'lifetime of session tickets, seconds' },
  'tls.session_tickets': { type: 'flag', description: 'true if the server issues session tickets' },

  ssh: { type: 'flag', description: 'true if the port speaks SSH' },
  'ssh.version': { type: 'version', description: 'version of the protocol' },
  'ssh.software': { type: 'text', description: 'software of the identification line' },
  'ssh.comment': { type: 'text', description: 'comment of the identification line' },
  'ssh.kex_algorithms': { type: 'text', description: 'offered key exchanges; a list' },
  'ssh.host_key_types': { type: 'text', description: 'offered host key algorithms; a list' },
  'ssh.ciphers': { type: 'text', description: 'offered ciphers; a list' },
  'ssh.macs': { type: 'text', description: 'offered MACs; a list' },
  'ssh.compression': { type: 'text', description: 'offered compressions; a list' },
  'ssh.hassh_server': { type: 'text', description: 'HASSH fingerprint of the lists' },

  smtp: { type: 'flag', description: 'true if the port speaks SMTP' },
  'smtp.code': { type: 'number', description: 'code of the greeting' },
  'smtp.greeting': { type: 'text', description: 'text of the greeting' },
  'smtp.hostname': { type: 'text', description: 'host name of the greeting' },
  'smtp.extensions': { type: 'text', description: 'EHLO keywords with parameters; a list' },
  'smtp.starttls': { type: 'flag', description: 'true if STARTTLS is offered' },
  'smtp.auth_methods': { type: 'text', description: 'offered authentication methods; a list' },

  ftp: { type: 'flag', description: 'true if the port speaks FTP' },
  'ftp.code': { type: 'number', description: 'code of the greeting' },
  'ftp.greeting': { type: 'text', description: 'text of the greeting' },
  'ftp.features': { type: 'text', description: 'lines of FEAT; a list' },
  'ftp.system': { type: 'text', description: 'response to SYST' },
  'ftp.auth_tls': { type: 'flag', description: 'true if AUTH TLS is offered' },
  'ftp.anonymous': { type: 'flag', description: 'true if an anonymous login worked' },
};

const header: RuleField = { type: 'text', description: 'a header of the response' };
const attribute: RuleField = { type: 'any', description: 'a fact of another parser' };

/** The field of a name; header names are lower case. Null = unknown. */
export function ruleField(name: string): RuleField | null {
  if (Object.hasOwn(ruleFields, name)) return ruleFields[name] as RuleField;
  if (/^http\.headers\.[a-z0-9_-]{1,64}$/.test(name)) return header;
  return /^attributes\.[a-z0-9_]{1,64}\.[a-z0-9_]{1,64}$/.test(name) ? attribute : null;
}

const textOperators: readonly RuleOperator[] = [
  'equals',
  'contains',
  'startsWith',
  'endsWith',
  'matches',
  'in',
  'notIn',
  'exists',
];

/** The operators that fit a type. */
export const operatorsOf: Readonly<Record<FieldType, readonly RuleOperator[]>> = {
  text: textOperators,
  number: ['equals', 'in', 'notIn', 'exists', ...orderOperators],
  flag: ['equals', 'exists'],
  version: [...textOperators, ...versionOperators],
  date: ['equals', 'exists', ...orderOperators],
  any: [...textOperators, ...orderOperators, ...versionOperators],
};
