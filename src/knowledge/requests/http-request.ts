/** Version that probes give as their own. */
const ownVersion = '0.1';
export const userAgent = `Portolan/${ownVersion}`;

/** Ports that a `Host` header leaves out; which of both schemes is spoken does not matter to a server. */
const unnamedPorts: ReadonlySet<number> = new Set([80, 443]);

/**
 * The IPv6 address of a URL stands in brackets (RFC 3986 section 3.2.2), without zone. With the port a server's redirects
 * lead back to it (RFC 9110 section 7.2).
 */
export function hostHeader(host: string, port?: number): string {
  const name = host.includes(':') ? `[${host.split('%')[0]}]` : host;
  return port === undefined || unnamedPorts.has(port) ? name : `${name}:${port}`;
}

/**
 * @param content JSON to post, for an API that takes only POST requests
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

/** Servers reject such a request without acting on it; the rejection distinguishes them. */
export const malformedRequest = (host: string, _said?: Buffer, port?: number) =>
  `GET / HTTP/1.1\r\nHost: ${hostHeader(host, port)}\r\nContent-Length: x\r\nConnection: close\r\n\r\n`;
