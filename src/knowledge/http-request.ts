/** Version that probes give as their own. */
const ownVersion = '0.1';

/** The IPv6 address of a URL stands in brackets (RFC 3986 section 3.2.2), without zone. */
export function hostHeader(host: string): string {
  return host.includes(':') ? `[${host.split('%')[0]}]` : host;
}

/** @param content JSON that is posted: a question of an API that takes no other */
export const httpRequestFor = (path: string, content?: string) => (host: string) =>
  [
    `${content === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    `Host: ${hostHeader(host)}`,
    `User-Agent: Portolan/${ownVersion}`,
    'Accept: */*',
    'Accept-Encoding: identity',
    'Connection: close',
    ...(content === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${content.length}`]),
    `\r\n${content ?? ''}`,
  ].join('\r\n');
