import type { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { PeerCertificate } from 'node:tls';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';

/**
 * Certificate pinning: a server that presents the certificate of `server.tls.cert_file` is that of this installation,
 * whatever its name or address, since it has the key. The certificate need not name 127.0.0.1, nor come from a
 * trusted authority. Every other server is verified as usual.
 */
let certificateFile = '';

/** Makes requests of this process trust the server of this configuration. */
export function trustLocalServer({ server }: Config): void {
  certificateFile = server.tls.cert_file;
}

const certificateHead = /^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/m;

/**
 * Makes requests of this process trust additional certificate authorities.
 * @param file PEM
 * @throws PortolanError `configuration`
 */
export async function trustAuthorities(file: string): Promise<void> {
  const { getCACertificates, setDefaultCACertificates } = await import('node:tls');
  try {
    const text = await readFile(file, 'utf8');
    // Node.js ignores whatever else the file holds.
    if (!certificateHead.test(text)) throw new Error('it has none in PEM');
    setDefaultCACertificates([...getCACertificates('default'), text]);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new PortolanError('configuration', `cannot read certificates from ${file}: ${code ?? message}`);
  }
}

/** Like `fetch`, for an https URL; the body of a request is text. */
export async function fetchFromLocalServer(url: string, init: RequestInit): Promise<Response> {
  const own = await ownCertificate();
  if (own === null || !url.startsWith('https:')) return fetch(url, init);
  const { signal } = init;
  signal?.throwIfAborted();
  try {
    return await responseOf(await send(url, init, await trustOf(own)));
  } catch (error) {
    signal?.throwIfAborted();
    throw new TypeError('fetch failed', { cause: error });
  }
}

/** Null when none is configured or readable: no additional certificate is trusted then. */
async function ownCertificate(): Promise<X509Certificate | null> {
  if (certificateFile === '') return null;
  try {
    const { X509Certificate } = await import('node:crypto');
    return new X509Certificate(await readFile(certificateFile));
  } catch {
    return null;
  }
}

async function trustOf(own: X509Certificate): Promise<RequestOptions> {
  const { checkServerIdentity, getCACertificates } = await import('node:tls');
  return {
    ca: [...getCACertificates('default'), own.toString()],
    // Accept the local certificate although its issuer is unknown.
    allowPartialTrustChain: true,
    checkServerIdentity: (name: string, shown: PeerCertificate) =>
      shown.raw.equals(own.raw) ? undefined : checkServerIdentity(name, shown),
  };
}

async function send(url: string, { method, headers, body, signal }: RequestInit, trust: RequestOptions) {
  const { request: httpsRequest } = await import('node:https');
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      ...trust,
      method: method ?? 'GET',
      headers: Object.fromEntries(new Headers(headers)),
      agent: false,
      ...(signal && { signal }),
    } as const;
    const request = httpsRequest(url, options, resolve);
    request.on('error', reject);
    request.end(typeof body === 'string' ? body : undefined);
  });
}

/** @throws Error for a redirect, which could leak the token to another host */
async function responseOf(answer: IncomingMessage): Promise<Response> {
  const { statusCode: status = 500, headers } = answer;
  if (status >= 300 && status < 400) {
    answer.destroy();
    throw new Error('unexpected redirect');
  }
  const { Readable } = await import('node:stream');
  const empty = status === 204 || status === 205;
  if (empty) answer.resume();
  return new Response(empty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>), {
    status,
    headers: new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  });
}
