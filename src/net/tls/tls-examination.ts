import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { onAbort } from '../abort.ts';
import type { TlsExamination, TlsExaminationOptions } from '../gate/gate.ts';
import { loopClock } from '../loop-clock.ts';
import { handshake } from './tls.ts';

/** Time for a server to issue a session after the handshake: TLS 1.3 sends it later. */
const sessionMs = 400;

/** Timeout of a second handshake. */
const renegotiationMs = 2000;

interface ExaminationOptions extends TlsExaminationOptions {
  /** loopClock.now() at which the handshake times out. */
  deadline: number;
  signal: AbortSignal;
}

const contexts = new Map<'TLSv1.2' | 'TLSv1.3', SecureContext>();

/** Accepts everything. Allows a second handshake even if the server does not bind it to the first. */
function contextUpTo(maxVersion: 'TLSv1.2' | 'TLSv1.3'): SecureContext {
  const known = contexts.get(maxVersion);
  if (known) return known;
  const context = createSecureContext({
    minVersion: 'TLSv1',
    maxVersion,
    ciphers: 'DEFAULT@SECLEVEL=0',
    secureOptions:
      constants.SSL_OP_LEGACY_SERVER_CONNECT | constants.SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION,
    ca: [],
  });
  contexts.set(maxVersion, context);
  return context;
}

/** Makes a complete handshake over an open socket, reads its results, and resets the connection. */
export async function examineTls(
  socket: Socket,
  options: ExaminationOptions,
): Promise<TlsExamination | { reason: string }> {
  const seen = { stapled: false, session: null as Buffer | null };
  const { deadline, signal, renegotiate = false } = options;
  const outcome = await whenSecure(socket, options, seen);
  if ('reason' in outcome) return outcome;
  const { stream } = outcome;
  const left = () => Math.max(0, deadline - loopClock.now());
  const version = stream.getProtocol() ?? 'unknown';
  const alpn = stream.alpnProtocol || null;
  const resumed = stream.isSessionReused();
  const renegotiated = renegotiate
    ? await handshakeAgain(stream, Math.min(renegotiationMs, left()), signal)
    : null;
  // Older versions issue their session within the handshake.
  if (version === 'TLSv1.3' && seen.session === null) {
    await happened(stream, 'session', Math.min(sessionMs, left()), signal);
  }
  // Closing the socket at once would do so in the middle of OpenSSL's work, which crashes the process.
  await new Promise((resolve) => setImmediate(resolve));
  if (!socket.destroyed) socket.resetAndDestroy();
  stream.destroy();
  return { version, alpn, stapled: seen.stapled, resumed, session: seen.session, renegotiated };
}

function whenSecure(
  socket: Socket,
  options: ExaminationOptions,
  seen: { stapled: boolean; session: Buffer | null },
): Promise<{ stream: TLSSocket } | { reason: string }> {
  const { renegotiate, old, serverName, alpn, session } = options;
  const request = {
    secureContext: contextUpTo(renegotiate || old ? 'TLSv1.2' : 'TLSv1.3'),
    requestOCSP: true,
    ...(serverName ? { servername: serverName } : {}),
    ...(alpn?.length ? { ALPNProtocols: alpn } : {}),
    ...(session ? { session } : {}),
  };
  return handshake(socket, options, request, (stream) => {
    stream.on('OCSPResponse', (response: Buffer | null) => {
      seen.stapled ||= response !== null && response.length > 0;
    });
    stream.on('session', (given: Buffer) => {
      seen.session = given;
    });
  });
}

/** @returns false if the server rejects it, closes the connection or stays silent */
async function handshakeAgain(stream: TLSSocket, waitMs: number, signal: AbortSignal): Promise<boolean> {
  let done = false;
  const ended = happened(stream, 'renegotiated', waitMs, signal);
  try {
    stream.resume();
    stream.renegotiate({ rejectUnauthorized: false }, (error) => {
      done = error === null;
      stream.emit('renegotiated');
    });
  } catch {
    return false;
  }
  await ended;
  return done;
}

/** Waits for an event of the stream, its end, or the time. */
function happened(stream: TLSSocket, event: string, waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      forget();
      for (const each of [event, 'close', 'error']) stream.off(each, settle);
      resolve();
    };
    const timer = setTimeout(settle, waitMs);
    const forget = onAbort(signal, settle);
    for (const each of [event, 'close', 'error']) stream.once(each, settle);
    // TLS 1.3 sends sessions after the handshake: they are processed only while something reads.
    stream.resume();
    if (stream.destroyed) settle();
  });
}
