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

export interface ServerRequest {
  method: string;
  headers: Record<string, string>;
  /** JSON; absent = none. */
  body?: string;
  signal?: AbortSignal;
}

export interface ServerReply {
  status: number;
  /** Its chunks; an abort ends them with its reason. */
  body: AsyncIterable<Uint8Array>;
}

/**
 * Sends a request without `fetch`, which takes as long to load as the rest of a command.
 * @throws Error with the reason as its cause; the reason of the signal when it was aborted
 */
export async function requestServer(url: string, request: ServerRequest): Promise<ServerReply> {
  const { signal } = request;
  signal?.throwIfAborted();
  const isSecure = url.startsWith('https:');
  try {
    const own = isSecure ? await ownCertificate() : null;
    const response = await send(url, request, own === null ? {} : await trustOf(own));
    const { statusCode: status = 500 } = response;
    if (status >= 300 && status < 400) {
      response.destroy();
      // It could leak the token to another host.
      throw new Error('unexpected redirect');
    }
    return { status, body: chunksOf(response, signal) };
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error('request failed', { cause: error });
  }
}

async function* chunksOf(response: IncomingMessage, signal?: AbortSignal): AsyncIterable<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error('response ended early', { cause: error });
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

async function send(
  url: string,
  { method, headers, body, signal }: ServerRequest,
  trust: RequestOptions,
): Promise<IncomingMessage> {
  const { request: requestOf } = url.startsWith('https:')
    ? await import('node:https')
    : await import('node:http');
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options: RequestOptions = {
      ...trust,
      method,
      headers: { ...headers, ...length },
      // Sessions of a pinned certificate stay apart.
      ...(trust.ca && { agent: false }),
      ...(signal && { signal }),
    };
    const request = requestOf(url, options, resolve);
    request.on('error', reject);
    request.end(body);
  });
}
