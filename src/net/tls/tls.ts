import { constants, type X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ConnectionOptions, SecureContext, TLSSocket } from 'node:tls';
import { type TlsObservation, tlsBrokenOff, tlsRejection } from '../../domain/text/banner.ts';
import { onAbort } from '../abort.ts';
import { errorCode } from '../failure.ts';
import { loopClock } from '../loop-clock.ts';

/** Loaded for the first handshake. */
const tls = () => process.getBuiltinModule('node:tls');

/** Maximum number of stored certificates per chain. */
const maxCertificates = 16;

/** Reason of a handshake that timed out. */
export const handshakeTimeout = 'the handshake did not complete before the deadline';

interface HandshakeOptions {
  serverName: string | null;
  alpn: string[];
  /** Only anonymous suites. */
  anonymous?: boolean;
  /** loopClock.now() at which the handshake times out. */
  deadline: number;
  signal: AbortSignal;
}

let context: SecureContext | null = null;
let anonymousContext: SecureContext | null = null;

/** A scanner wants to see old versions, weak ciphers and untrusted certificates, so it accepts everything. */
function anyServer(): SecureContext {
  context ??= tls().createSecureContext({
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
    ca: [],
  });
  return context;
}

/** For servers without a certificate; these suites ended with TLS 1.2. */
function serverWithoutCertificate(): SecureContext {
  anonymousContext ??= tls().createSecureContext({
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.2',
    ciphers: 'aNULL:@SECLEVEL=0',
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
    ca: [],
  });
  return anonymousContext;
}

/** A TLS handshake over an open socket. Returns an observation or a reason, whatever the peer does. */
export async function startTls(
  socket: Socket,
  options: HandshakeOptions,
): Promise<{ stream: TLSSocket; tls: TlsObservation } | { reason: string }> {
  const { anonymous, serverName, alpn } = options;
  const outcome = await handshake(socket, options, {
    secureContext: anonymous ? serverWithoutCertificate() : anyServer(),
    ...(serverName ? { servername: serverName } : {}),
    ...(alpn.length > 0 ? { ALPNProtocols: alpn } : {}),
  });
  if ('reason' in outcome) return outcome;
  const { stream } = outcome;
  const tls = observe(stream);
  // Closing the socket at once would do so in the middle of OpenSSL's work, which crashes the process.
  await new Promise((resolve) => setImmediate(resolve));
  return { stream, tls };
}

/**
 * The stream over an open socket after the handshake; accepts every certificate. On failure, resets the connection.
 * @param follow called with the stream before any data
 */
export function handshake(
  socket: Socket,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
  options: ConnectionOptions,
  follow: (stream: TLSSocket) => void = () => undefined,
): Promise<{ stream: TLSSocket } | { reason: string }> {
  return new Promise((resolve) => {
    let stream: TLSSocket | null = null;
    const readBefore = socket.bytesRead;
    const settle = (outcome: { stream: TLSSocket } | { reason: string }) => {
      forgetDeadline();
      forget();
      socket.off('close', onClose);
      stream?.off('close', onClose);
      if ('reason' in outcome) {
        // Reset first: destroying the TLS stream would close the connection gracefully and leave a TIME_WAIT.
        if (!socket.destroyed) socket.resetAndDestroy();
        stream?.destroy();
      }
      resolve(outcome);
    };
    const fail = (reason: string) => {
      const brokenOff =
        (reason === peerClosed || reason === handshakeTimeout) && socket.bytesRead > readBefore;
      settle({ reason: brokenOff ? `${reason}${tlsBrokenOff}` : reason });
    };
    const onClose = () => fail(peerClosed);
    const left = Math.max(0, deadline - loopClock.now());
    const forgetDeadline = loopClock.after(left, () => fail(handshakeTimeout));
    const forget = onAbort(signal, () => settle({ reason: 'canceled' }));
    socket.once('close', onClose);
    try {
      stream = tls().connect({
        ...options,
        socket,
        rejectUnauthorized: false,
        checkServerIdentity: () => undefined,
      });
    } catch (error) {
      return fail(handshakeFailure(error));
    }
    // Keep the listener: a late error must not be uncaught.
    stream.on('error', (error) => fail(handshakeFailure(error)));
    stream.once('close', onClose);
    stream.once('secureConnect', () => settle({ stream: stream as TLSSocket }));
    follow(stream);
  });
}

function observe(stream: TLSSocket): TlsObservation {
  const cipher = stream.getCipher();
  return {
    version: stream.getProtocol() ?? 'unknown',
    cipher: cipher?.standardName ?? cipher?.name ?? 'unknown',
    alpn: stream.alpnProtocol || null,
    chain: certificateChain(stream),
  };
}

/** The certificates the server sent as DER in base64, leaf first. */
function certificateChain(stream: TLSSocket): string[] {
  const chain: string[] = [];
  try {
    let certificate: X509Certificate | undefined = stream.getPeerX509Certificate();
    while (certificate && chain.length < maxCertificates) {
      const der = certificate.raw.toString('base64');
      if (chain.includes(der)) break;
      chain.push(der);
      certificate = certificate.issuerCertificate;
    }
  } catch {
    // A certificate that cannot be decoded ends the chain; the readable ones stay.
  }
  return chain;
}

/** Reason of a handshake that the peer ended without an alert. */
export const peerClosed = 'the peer closed the connection during the handshake';

const reasons: Record<string, string> = {
  ERR_SSL_WRONG_VERSION_NUMBER: 'the peer responded with something other than TLS',
  ERR_SSL_HTTP_REQUEST: 'the peer responded with something other than TLS',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'the server supports no TLS version that this client supports',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the peer responded with something other than TLS',
  ECONNRESET: peerClosed,
  EPIPE: peerClosed,
};

function handshakeFailure(error: unknown): string {
  const code = errorCode(error);
  const known = reasons[code];
  if (known) return known;
  const alert = peerAlert(error);
  if (alert) return `${tlsRejection} ${alert.name}`;
  return `the handshake failed: ${opensslReason(error)}`;
}

/** The alert that the peer sent, by its number (RFC 8446, 6) and its name in OpenSSL; null for other errors. */
export function peerAlert(error: unknown): { number: number; name: string } | null {
  // OpenSSL puts the number of an alert from the peer at the end of the message.
  const number = /SSL alert number (\d{1,3})/.exec(String(error))?.[1];
  if (number === undefined) return null;
  return {
    number: Number(number),
    name: opensslReason(error).replace(/^(?:ssl\/tls|(?:ssl|tls)v\d+) (?:alert )?/, ''),
  };
}

function opensslReason(error: unknown): string {
  const cause = (error as { reason?: unknown } | null)?.reason;
  return typeof cause === 'string' ? cause : errorCode(error);
}
