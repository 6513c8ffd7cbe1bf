import type { Probe } from '../probes/probe.ts';
import { httpRequestFor } from './http-request.ts';

/** Probe names of redirect targets, in order of the redirects. */
export const redirectNames = ['redirect-target', 'second-redirect-target'] as const;

/** Location of a requested page. */
interface Place {
  host: string;
  port: number;
  /** Host name in the request. */
  name: string | null;
  secure: boolean;
}

/** Maximum characters of a response to search for a redirect. */
const openingLimit = 8192;

/**
 * Path on the same port that a response redirects to (RFC 9110 section 15.4, or a refresh in the page); null if it
 * does not redirect, or to itself, or to another host, port or scheme.
 */
export function redirectPath(bytes: Buffer, place: Place): string | null {
  const text = bytes.toString('latin1', 0, openingLimit);
  const target = /^HTTP\/1\.[01] 30[12378] /.test(text)
    ? /\r?\nLocation:[ \t]{0,8}([^\s]{1,1024})/i.exec(text)?.[1]
    : /<meta[^<>]{1,100}refresh[^<>]{1,100}?url=["']?([^"'<>\s]{1,256})/i.exec(text)?.[1];
  if (!target || !/^[!-~]+$/.test(target)) return null;
  const origin = `${place.secure ? 'https' : 'http'}://${urlHost(place.host)}:${place.port}`;
  let url: URL;
  try {
    url = new URL(target, origin);
  } catch {
    return null;
  }
  const path = url.pathname + url.search;
  return path !== '/' && isSamePlace(url, origin, place) ? path : null;
}

function isSamePlace(url: URL, origin: string, { name }: Place): boolean {
  const own = new URL(origin);
  if (url.protocol !== own.protocol || url.port !== own.port) return false;
  return url.hostname === own.hostname || (name !== null && url.hostname === name.toLowerCase());
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host.split('%')[0]}]` : host;
}

/** Requests one page. */
export function pageProbe(name: string, path: string): Probe {
  return {
    name,
    service: 'http',
    ports: [],
    greeting: null,
    steps: [{ send: httpRequestFor(path), answer: 'http' }],
  };
}
