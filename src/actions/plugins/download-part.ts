import { isLoopbackHost } from '../../config/endpoint.ts';
import { PortolanError } from '../../domain/errors.ts';
import { downloadFeed, urlWithoutSecret } from '../catalogs/download-feed.ts';

/** The query stays behind the path: `package.tar.gz.sig?key=...`. */
export function signatureUrl(url: string): string {
  const parsed = new URL(url);
  parsed.pathname += '.sig';
  return parsed.href;
}

/** @throws PortolanError `usage` for a URL that is neither https nor http to this machine */
export async function downloadPart(url: string, maxBytes: number): Promise<Buffer> {
  const parsed = URL.parse(url);
  const local = parsed?.protocol === 'http:' && isLoopbackHost(parsed.hostname.replace(/^\[|\]$/g, ''));
  if (parsed?.protocol !== 'https:' && !local) {
    throw new PortolanError('usage', 'the URL of a plugin must be https');
  }
  const answer = await downloadFeed(url, { maxBytes, etag: null, sameOrigin: true });
  if (answer === null)
    throw new PortolanError('network', `${urlWithoutSecret(url)}: the server responded 304`);
  return answer.bytes;
}
