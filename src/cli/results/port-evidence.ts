import { doubtOf, type PortRow } from '../../domain/result.ts';
import type { UnidentifiedReason } from '../../domain/text/banner.ts';
import { readableLine } from '../../domain/text/readable-banner.ts';
import { siteTexts } from '../../domain/text/site-text.ts';

const dayMs = 86_400_000;
/** Days before its end from which a certificate is mentioned. */
const expiringDays = 30;
/** Further names of a port that are shown. */
const shownSites = 3;

/**
 * What the row of a port does not say yet: title or redirect of a page, status, an expiring certificate, package
 * revision, host in the greeting, else the readable part of the banner, else why there is none.
 * @param at time of the scan, milliseconds since 1970
 * @param isTarpit its host accepts (nearly) every port
 */
export function portEvidence(row: PortRow, at: number, isTarpit = false): string {
  const expiry = expiryEvidence(row, at);
  const facts = [
    webEvidence(row) ?? lockEvidence(row, expiry === '') ?? greetingEvidence(row),
    expiry,
    ...sitesEvidence(row),
  ];
  const shown = facts.filter((fact) => fact !== '').join(', ');
  if (shown !== '') return shown;
  const doubt = doubtOf(row, isTarpit);
  if (doubt && !row.service?.product) return doubts.get(doubt) ?? `not identified: ${doubt}`;
  const isSilent = row.banner === '' && !row.tls && !row.service;
  return certificateName(row) ?? (isSilent ? 'silent' : '');
}

const doubts: ReadonlyMap<string, string> = new Map<UnidentifiedReason, string>([
  ['tarpit', 'not probed: tarpit'],
  ['unproven', 'unproven: no sign of life'],
  ['fragile', 'left alone: fragile device'],
]);

/** Null if no page was read. */
function webEvidence({ attributes, service }: PortRow): string | null {
  const http = objectOf(attributes?.['http']);
  if (http === null || typeof http['status'] !== 'number') return null;
  const { status } = http;
  const location = textOf(http['location']);
  if (status >= 300 && status < 400 && location) return `to ${location}`;
  const title = textOf(http['title']);
  const parts = [
    ...(title ? [`"${title}"`] : []),
    ...(status === 200 || title?.includes(String(status))
      ? []
      : [`${status} ${textOf(http['reason']) ?? ''}`.trim()]),
  ];
  const server = textOf(http['server']);
  if (parts.length === 0 && server && !saysNothingNew(server, service)) parts.push(server);
  return parts.join(', ');
}

/** `certificate web-1.example.net, client certificate required`; null if clients need none. */
function lockEvidence(row: PortRow, named: boolean): string | null {
  if (objectOf(row.tls)?.['client_certificate'] !== 'required') return null;
  return [named ? certificateName(row) : null, 'client certificate required']
    .filter((part) => part !== null)
    .join(', ');
}

function greetingEvidence(row: PortRow): string {
  const { attributes, fingerprints, service } = row;
  const revision = textOf(fingerprints?.[0]?.revision);
  if (revision) return revision;
  const host = textOf(objectOf(attributes?.['smtp'])?.['hostname']);
  if (host) return host;
  const line = lineInWords(row);
  if (/^-(?:NOAUTH|WRONGPASS)\b/.test(line)) return 'password required';
  if (/^HTTP\/\S+ 200\b/.test(line) || saysNothingNew(line, service)) return '';
  return line;
}

/** The first base of an LDAP directory, up to the next sequence. */
const namingContext =
  /namingContexts[^=]{1,40}?((?:dc|ou?|cn?)=[^\\]{1,200}?)(?:0(?:[^\\]|\\x[0-9a-f]{2})\\x04|\\|$)/i;

/** Of a binary protocol what was read of the response; its text alone says little (`$596`, `objectClass1`, `SMB@`). */
function lineInWords(row: PortRow): string {
  const claim = row.fingerprints?.[0];
  const said = readableLine({ banner: claim?.evidence });
  if (!isBinary(row)) return readableLine(row) || said;
  const context = namingContext.exec(row.banner ?? '')?.[1];
  if (context !== undefined) return `serves ${context}`;
  if (/^\$\d+\r\n# Server\r\n/.test(row.banner ?? '')) return 'no password asked';
  if (claim === undefined) return readableLine(row);
  return /\p{L}{3}/u.test(said) ? said : '';
}

/** A control character in the first line, or the length of what follows (RESP). */
function isBinary({ banner }: PortRow): boolean {
  return /^\$\d+\r?$|^[^\r\n]*(?:\\x(?:[01][0-8bcef]|7f)|[\0-\x08\x0e-\x1f])/m.test(
    (banner ?? '').split('\n', 1)[0] ?? '',
  );
}

/** Whether a text is only product and version, which the row shows already. */
function saysNothingNew(text: string, service: PortRow['service']): boolean {
  if (!service?.product) return false;
  let rest = text.toLowerCase();
  for (const word of [
    ...service.product.split(' '),
    service.version ?? '',
    service.vendor ?? '',
    'version',
  ]) {
    if (word !== '') rest = rest.replace(word.toLowerCase(), '');
  }
  return !/[\p{L}\p{N}]/u.test(rest.replace(/^(?:\d{3}\b|ssh-\d\.\d+-|server:)/, ''));
}

/** The pages of further names; more are counted. */
function sitesEvidence(row: PortRow): string[] {
  const sites = siteTexts(row);
  const left = sites.length - shownSites;
  return [
    ...sites.slice(0, shownSites),
    ...(left > 0 ? [`${left} more ${left === 1 ? 'name' : 'names'}`] : []),
  ];
}

function expiryEvidence(row: PortRow, at: number): string {
  const until = Date.parse(textOf(certificateOf(row)?.['not_after']) ?? '');
  const days = Math.floor((until - at) / dayMs);
  if (!(days < expiringDays)) return '';
  const name = certificateName(row) ?? 'certificate';
  return days < 0 ? `${name} expired` : `${name} ends in ${days === 1 ? '1 day' : `${days} days`}`;
}

/** `certificate web-1.example.net` */
function certificateName(row: PortRow): string | null {
  const certificate = certificateOf(row);
  if (certificate === null) return null;
  const common = /(?:^|, )CN=([^,]+)/.exec(textOf(certificate['subject']) ?? '')?.[1];
  const sans = certificate['sans'];
  const name = common ?? (Array.isArray(sans) ? textOf(sans[0]) : null);
  return name ? `certificate ${name}` : null;
}

function certificateOf({ tls }: PortRow): Record<string, unknown> | null {
  return objectOf(objectOf(tls)?.['certificate']);
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
