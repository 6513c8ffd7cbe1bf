/** Client version in probes. */
const ownVersion = '0.1';
export const userAgent = `Portolan/${ownVersion}`;

/** Ports omitted from a `Host` header; servers do not care which of the two schemes is used. */
const unnamedPorts: ReadonlySet<number> = new Set([80, 443]);

/**
 * An IPv6 address in a URL has brackets (RFC 3986 section 3.2.2) and no zone. With the port, redirects of a server
 * lead back to it (RFC 9110 section 7.2).
 */
export function hostHeader(host: string, port?: number): string {
  const name = host.includes(':') ? `[${host.split('%')[0]}]` : host;
  return port === undefined || unnamedPorts.has(port) ? name : `${name}:${port}`;
}

/**
 * @param content JSON to post, for an API that only accepts POST requests
 * @param encodings accepted for the response
 */
export const httpRequestFor =
  (path: string, content?: string, encodings = 'identity') =>
  (host: string, _said?: Buffer, port?: number) =>
    [
      `${content === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
      `Host: ${hostHeader(host, port)}`,
      `User-Agent: ${userAgent}`,
      'Accept: */*',
      `Accept-Encoding: ${encodings}`,
      'Connection: close',
      ...(content === undefined
        ? []
        : ['Content-Type: application/json', `Content-Length: ${content.length}`]),
      `\r\n${content ?? ''}`,
    ].join('\r\n');

/** Name of the probe with an invalid request: its Content-Length is not a number (RFC 9110 section 8.6). */
export const malformedRequestName = 'malformed-request';

/** Servers reject such a request without acting on it; the text of the rejection differs between servers. */
export const malformedRequest = (host: string, _said?: Buffer, port?: number) =>
  `GET / HTTP/1.1\r\nHost: ${hostHeader(host, port)}\r\nContent-Length: x\r\nConnection: close\r\n\r\n`;
