import { doubtOf, type PortRow } from '../../domain/result.ts';
import { unidentifiedTexts } from '../../domain/text/banner.ts';
import { readableBanner } from '../../domain/text/readable-banner.ts';

/** A `script` element: its text for people, and its facts as nested tables. */
export interface NmapScript {
  id: string;
  output: string;
  facts: ScriptTable;
}

/** Entries with a null value are left out; the key of an entry without a name is empty. */
export type ScriptTable = [key: string, value: string | null | ScriptTable][];

/**
 * What a port says beyond its service, in the scripts and shapes of nmap: banner, page title, certificate, host key; and
 * why its service is not identified.
 */
export function portScripts(row: PortRow, isTarpit = false): NmapScript[] {
  return [
    bannerScript(row),
    titleScript(row),
    certificateScript(row),
    hostKeyScript(row),
    doubtScript(row, isTarpit),
  ].filter((script) => script !== null);
}

function doubtScript(row: PortRow, isTarpit: boolean): NmapScript | null {
  const doubt = doubtOf(row, isTarpit);
  if (doubt === null) return null;
  const output = unidentifiedTexts.get(doubt) ?? 'It was not identified.';
  return { id: 'unidentified', output, facts: [['reason', doubt]] };
}

function bannerScript(row: PortRow): NmapScript | null {
  const output = readableBanner(row);
  return output === '' ? null : { id: 'banner', output, facts: [] };
}

/** Maximum length of a title in nmap's text, characters. */
const maxTitle = 65;

function titleScript({ attributes }: PortRow): NmapScript | null {
  const http = objectOf(attributes?.['http']);
  const status = http?.['status'];
  if (http === null || typeof status !== 'number') return null;
  const location = textOf(http['location']);
  const id = 'http-title';
  if (status >= 300 && status < 310 && location !== null) {
    return { id, output: `Did not follow redirect to ${location}`, facts: [['redirect_url', location]] };
  }
  const title = textOf(http['title']);
  return {
    id,
    output: titleText(title, textOf(objectOf(http['headers'])?.['content-type'])),
    facts: [['title', title]],
  };
}

function titleText(title: string | null, mediaType: string | null): string {
  if (title === null) return `Site doesn't have a title${mediaType === null ? '' : ` (${mediaType})`}.`;
  const line = title.replace(/[\n\r\t]/g, '');
  return line.length > maxTitle ? `${line.slice(0, maxTitle - 3).toWellFormed()}...` : line;
}

function certificateScript({ tls }: PortRow): NmapScript | null {
  const certificate = objectOf(objectOf(tls)?.['certificate']);
  const text = (name: string) => textOf(certificate?.[name]);
  const subject = nameTable(text('subject') ?? '');
  if (certificate === null || text('not_after') === null) return null;
  const issuer = nameTable(text('issuer') ?? '');
  const [keyType = null, keyBits = null] = (text('key') ?? '').toLowerCase().split(' ');
  const [notBefore, notAfter] = [timeText(text('not_before')), timeText(text('not_after'))];
  const names = (Array.isArray(certificate['sans']) ? certificate['sans'] : [])
    .filter((name) => typeof name === 'string')
    .map((name) => (/^[\d.]+$|:/.test(name) ? `IP Address:${name}` : `DNS:${name}`));
  const lines = [
    `Subject: ${nameText(subject)}`,
    names.length > 0 && `Subject Alternative Name: ${names.join(', ')}`,
    `Issuer: ${nameText(issuer)}`,
    keyType && `Public Key type: ${keyType}`,
    keyBits && `Public Key bits: ${keyBits}`,
    text('signature') && `Signature Algorithm: ${text('signature')}`,
    `Not valid before: ${notBefore ?? 'MISSING'}`,
    `Not valid after:  ${notAfter}`,
    text('sha256') && `SHA-256: ${text('sha256')?.replace(/(.{4})(?=.)/g, '$1 ')}`,
  ];
  const facts: ScriptTable = [
    ['subject', subject],
    ['issuer', issuer],
    [
      'pubkey',
      [
        ['type', keyType],
        ['bits', keyBits],
      ],
    ],
    ['sig_algo', text('signature')],
    [
      'validity',
      [
        ['notBefore', notBefore],
        ['notAfter', notAfter],
      ],
    ],
    ['sha256', text('sha256')],
  ];
  return { id: 'ssl-cert', output: lines.filter(Boolean).join('\n'), facts };
}

const attributeNames: Record<string, string> = {
  CN: 'commonName',
  O: 'organizationName',
  OU: 'organizationalUnitName',
  ST: 'stateOrProvinceName',
  L: 'localityName',
  C: 'countryName',
};
const shownNames = ['commonName', 'organizationName', 'stateOrProvinceName', 'countryName'];

/** `C=US, CN=web-1` with the names of nmap; of several values the last. */
function nameTable(name: string): [string, string][] {
  const found = new Map<string, string>();
  for (const part of name.split(/, (?=[A-Za-z][A-Za-z0-9.]{0,63}=)/)) {
    const [, key = '', value = ''] = /^([^=]{1,64})=(.*)$/s.exec(part) ?? [];
    if (key !== '')
      found.set(Object.hasOwn(attributeNames, key) ? (attributeNames[key] as string) : key, value);
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

function nameText(name: readonly [string, string][]): string {
  return shownNames
    .flatMap((shown) => name.filter(([key]) => key === shown))
    .map(([key, value]) => `${key}=${value}`)
    .join('/');
}

/** `2026-10-06T14:30:22` in UTC, without a zone as in nmap. */
function timeText(timestamp: string | null): string | null {
  return timestamp?.slice(0, 19) ?? null;
}

/** Bits of keys whose type fixes them. */
const keyBits: Record<string, string> = {
  'ssh-ed25519': '256',
  'ecdsa-sha2-nistp256': '256',
  'ecdsa-sha2-nistp384': '384',
  'ecdsa-sha2-nistp521': '521',
};

/** As `--script-args ssh_hostkey=sha256`: the record has no key and no MD5 of it. */
function hostKeyScript({ attributes }: PortRow): NmapScript | null {
  const ssh = objectOf(attributes?.['ssh']);
  const listed = Array.isArray(ssh?.['host_keys']) ? ssh['host_keys'] : [];
  const keys = [...listed, ssh?.['rsa_host_key']].map(objectOf).flatMap((key) => {
    const [type, sha256] = [textOf(key?.['type']), textOf(key?.['sha256'])];
    if (type === null || sha256 === null) return [];
    const usual = Object.hasOwn(keyBits, type) ? (keyBits[type] as string) : null;
    const bits = typeof key?.['bits'] === 'number' ? String(key['bits']) : usual;
    return [{ type, sha256, bits }];
  });
  if (keys.length === 0) return null;
  return {
    id: 'ssh-hostkey',
    output: keys
      .map((key) => `\n  ${key.bits ?? '?'} SHA256:${key.sha256} (${algorithmOf(key.type)})`)
      .join(''),
    facts: keys.map(({ type, sha256, bits }) => [
      '',
      [
        ['type', type],
        ['bits', bits],
        ['sha256', sha256],
      ],
    ]),
  };
}

function algorithmOf(type: string): string {
  if (type.startsWith('ecdsa-')) return 'ECDSA';
  return type
    .replace(/^ssh-|^rsa-sha2-\d+$/, (part) => (part === 'ssh-' ? '' : 'rsa'))
    .toUpperCase()
    .replace(/^DSS$/, 'DSA');
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
