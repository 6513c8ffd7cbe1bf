import { canonicalAddress } from '../domain/targets/address.ts';

/** Listen address. `host` has no brackets. */
export interface ListenEndpoint {
  host: string;
  port: number;
}

/** Reads `host:port`, `[v6]:port` or `:port` (every address); null otherwise. */
export function parseEndpoint(text: string): ListenEndpoint | null {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text.trim());
  if (!match) return null;
  const port = Number(match[3]);
  if (port > 65_535) return null;
  const host = match[1] ?? match[2] ?? '';
  if (match[1] !== undefined) return canonicalAddress(host) === null ? null : { host, port };
  if (host === '') return { host: '::', port };
  return isHostName(host) ? { host, port } : null;
}

/** True when only this machine can reach the host of a listener. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name === '::1' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(name);
}

function isHostName(host: string): boolean {
  if (/^[\d.]+$/.test(host)) return host === '0.0.0.0' || canonicalAddress(host) !== null;
  return host.length <= 253 && /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(host);
}
