import { createHash } from 'node:crypto';
import type { Probe } from '../probes/probe.ts';
import type { HttpRecord } from '../protocols/http.ts';
import { httpRequestFor } from './http-request.ts';
import { murmur3 } from './murmur3.ts';

/** Name of the probe for the icon of a page. */
export const faviconName = 'favicon';

/** Maximum size of a hashed icon, bytes. */
const iconLimit = 64 * 1024;

/** Bytes of an icon that are inspected for its format. */
const pictureLimit = 2048;

/** Characters of a page that are searched for its icon. */
const pageLimit = 16 * 1024;
/** `link` elements of a page that are read. */
const linkLimit = 50;
/** Maximum length of the path of an icon, characters. */
const pathLimit = 512;

/** URL parts of a page. */
export interface PageOrigin {
  host: string;
  port: number;
  /** Host name in the request; null for an address. */
  name: string | null;
  secure: boolean;
}

/** Hashes of an icon, each over the bytes of the file. */
export interface IconPrints {
  /** Bytes. */
  size: number;
  /** Hash used by device search engines: MurmurHash3 of the Base64 text in lines of 76. */
  mmh3: number;
  md5: string;
  sha256: string;
}

/**
 * Path of the icon of a page, on the same host and port: the linked one, else the default path. Null if the response
 * is not a page.
 */
export function iconPath(response: Buffer, origin: PageOrigin): string | null {
  const text = response.toString('latin1', 0, pageLimit);
  if (!/^HTTP\/1\.[01] (?:200|30[12378]|40[0-4]|50[03])[ \r]/.test(text)) return null;
  const head = text.slice(0, text.indexOf('\r\n\r\n') === -1 ? text.length : text.indexOf('\r\n\r\n'));
  const page = /\r\ncontent-type:[ \t]*(?:text\/html|application\/xhtml)/i.test(head);
  const moved = /^HTTP\/1\.[01] 30/.test(text);
  if (!page && !moved) return null;
  return linkedPath(text, origin) ?? '/favicon.ico';
}

function linkedPath(text: string, { host, port, name, secure }: PageOrigin): string | null {
  let at = 0;
  for (let count = 0; count < linkLimit; count++) {
    at = text.indexOf('<link', at);
    if (at === -1) return null;
    const end = text.indexOf('>', at);
    const element = text.slice(at, Math.min(end === -1 ? at + 1024 : end, at + 1024));
    at += 5;
    if (!/\brel\s?=\s?["']?(?:shortcut )?icon\b/i.test(element)) continue;
    const link = /\bhref\s?=\s?(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(element);
    const target = (link?.[1] ?? link?.[2] ?? link?.[3] ?? '').replaceAll('&amp;', '&');
    const path = pathOn(target, { host, port, name, secure });
    if (path !== null) return path;
  }
  return null;
}

/** Null for a URL on another host, port or scheme, including `data:`. */
function pathOn(target: string, { host, port, name, secure }: PageOrigin): string | null {
  if (target === '' || target.length > pathLimit || !/^[!-~]+$/.test(target)) return null;
  const own = host.includes(':') ? `[${host.split('%')[0]}]` : host;
  try {
    const base = new URL(`${secure ? 'https' : 'http'}://${own}:${port}/`);
    const url = new URL(target, base);
    const known = url.hostname === base.hostname || url.hostname === name?.toLowerCase();
    if (url.protocol !== base.protocol || url.port !== base.port || !known) return null;
    return `${url.pathname}${url.search}`.slice(0, pathLimit);
  } catch {
    return null;
  }
}

export function iconProbe(path: string): Probe {
  return {
    name: faviconName,
    service: 'http',
    ports: [],
    greeting: null,
    steps: [{ send: httpRequestFor(path), answer: 'http' }],
  };
}

/** ICO, PNG, GIF, JPEG, BMP, WebP. */
const binaryPicture = /^(?:\0\0[\x01\x02]\0|\x89PNG\r\n|GIF8|\xff\xd8\xff|BM|RIFF[^]{4}WEBP)/;

/** Text before the root of an SVG, and how many such items to skip. */
const svgPrologue = /\s*(?:<\?xml[^>]*>|<!--[^]{0,500}?-->|<!DOCTYPE svg[^>]*>)/y;
/** Such items that are skipped. */
const prologueLimit = 4;
const svgRoot = /\s*<svg[\s>]/y;

/** One item at a time: a single expression over the whole prologue would backtrack exponentially. */
function isSvg(text: string): boolean {
  let position = 0;
  for (let count = 0; count <= prologueLimit; count++) {
    svgRoot.lastIndex = position;
    if (svgRoot.test(text)) return true;
    svgPrologue.lastIndex = position;
    if (!svgPrologue.test(text)) return false;
    position = svgPrologue.lastIndex;
  }
  return false;
}

/** Hashes an icon; null if the response is not an icon or is incomplete. */
export function iconPrints({ facts, body, truncated }: HttpRecord): IconPrints | null {
  if (facts.status !== 200 || truncated || body.length === 0 || body.length > iconLimit) return null;
  const start = body.toString('latin1', 0, pictureLimit);
  if (!binaryPicture.test(start) && !isSvg(start)) return null;
  const lines = body.toString('base64').replace(/.{1,76}/g, '$&\n');
  return {
    size: body.length,
    mmh3: murmur3(Buffer.from(lines, 'latin1')),
    md5: createHash('md5').update(body).digest('hex'),
    sha256: createHash('sha256').update(body).digest('hex'),
  };
}
