/** Reasons of failed deliveries, shown in the scan detail: never text from the receiver, never a URL. */
export class DeliveryFault extends Error {}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'cannot resolve the host name',
  EDNS: 'cannot resolve the host name',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  ETIMEDOUT: 'timed out',
  UND_ERR_CONNECT_TIMEOUT: 'timed out',
  UND_ERR_HEADERS_TIMEOUT: 'timed out',
  ETLS: 'TLS handshake failed',
  EAUTH: 'the mail server rejected the user name or password',
  EENVELOPE: 'the mail server rejected the sender or the recipients',
  EMESSAGE: 'the mail server rejected the message',
  EPROTOCOL: 'the mail server ended the session',
  ECONNECTION: 'connection closed',
};

/** Maps an error of a library to a `DeliveryFault`. */
export function faultOf(error: unknown): DeliveryFault {
  if (error instanceof DeliveryFault) return error;
  const chain = causes(error);
  if (chain.some(({ name }) => name === 'TimeoutError')) return new DeliveryFault('timed out');
  const codes = chain
    .flatMap(({ originalCode, code }) => [originalCode, code])
    .filter((code) => typeof code === 'string');
  const known = codes.find(isKnown);
  if (known !== undefined) return new DeliveryFault(`${reasons[known]}${replyOf(chain)}`);
  // fetch rejects ports of other protocols (Fetch Standard, "bad port"), and has no code for that.
  if (chain.some(({ message }) => message === 'bad port'))
    return new DeliveryFault('HTTP clients refuse to use this port');
  const certificate = codes.some((code) => /CERT|SIGNATURE|^ERR_TLS|^ERR_SSL/.test(code));
  return new DeliveryFault(certificate ? 'untrusted certificate' : 'sending failed');
}

/** The used properties of an error. */
interface Thrown {
  name?: unknown;
  message?: unknown;
  code?: unknown;
  /** Code of the system, where a library replaced it by one of its own. */
  originalCode?: unknown;
  responseCode?: unknown;
}

/** The error and its chain of causes; of several causes the first. */
function causes(error: unknown): Thrown[] {
  const chain: Thrown[] = [];
  let next: unknown = error;
  while (typeof next === 'object' && next !== null && chain.length < 5) {
    chain.push(next as Thrown);
    const { cause, errors } = next as { cause?: unknown; errors?: unknown };
    next = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return chain;
}

function isKnown(code: string): boolean {
  return Object.hasOwn(reasons, code);
}

/** Reply code of the mail server. */
function replyOf(chain: Thrown[]): string {
  const code = chain.map(({ responseCode }) => responseCode).find((value) => typeof value === 'number');
  return code === undefined ? '' : ` (${code})`;
}
