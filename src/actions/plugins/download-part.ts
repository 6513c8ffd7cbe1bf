import { isLoopbackHost } from '../../config/endpoint.ts';
import { PortolanError } from '../../domain/errors.ts';
import { downloadFeed, urlWithoutSecret } from '../catalogs/download-feed.ts';
import { type AddressRules, openChecked } from './open-checked.ts';

/** The query stays behind the path: `package.tar.gz.sig?key=...`. */
export function signatureUrl(url: string): string {
  const parsed = new URL(url);
  parsed.pathname += '.sig';
  return parsed.href;
}

/**
 * @param mayBePrivate whether its host may have a private address; redirects lead to another host only if that is public
 * @throws PortolanError `usage` for a URL that is neither https nor http to this machine, `network`, `timeout`
 */
export async function downloadPart(
  url: string,
  maxBytes: number,
  rules: AddressRules = { mayBePrivate: true },
): Promise<Buffer> {
  const parsed = URL.parse(url);
  const local = parsed?.protocol === 'http:' && isLoopbackHost(parsed.hostname.replace(/^\[|\]$/g, ''));
  if (parsed?.protocol !== 'https:' && !local) {
    throw new PortolanError('usage', 'the URL of a plugin must be https');
  }
  const response = await downloadFeed(url, { maxBytes, etag: null, open: openChecked(parsed, rules) });
  if (response === null)
    throw new PortolanError('network', `${urlWithoutSecret(url)}: the server responded 304`);
  return response.bytes;
}
