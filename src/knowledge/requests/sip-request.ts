import { randomBytes } from 'node:crypto';

/** Queries the capabilities of a SIP server, RFC 3261 section 11; each request has a new tag. */
export function sipOptions(transport: 'TCP' | 'UDP'): string {
  const tag = randomBytes(6).toString('hex');
  return [
    'OPTIONS sip:portolan.invalid SIP/2.0',
    `Via: SIP/2.0/${transport} portolan.invalid;branch=z9hG4bK${tag};rport`,
    'Max-Forwards: 0',
    `From: <sip:portolan@portolan.invalid>;tag=${tag}`,
    'To: <sip:portolan.invalid>',
    `Call-ID: ${tag}@portolan.invalid`,
    'CSeq: 1 OPTIONS',
    'Content-Length: 0',
    '\r\n',
  ].join('\r\n');
}
