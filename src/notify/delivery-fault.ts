/** Why a try to send something failed, in words for the detail of a scan: nothing that the other side said, no URL. */
export class DeliveryFault extends Error {}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EDNS: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'the host is not reachable',
  ENETUNREACH: 'the host is not reachable',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  ETLS: 'no encrypted connection came about',
  EAUTH: 'the mail server refused the name or the password',
  EENVELOPE: 'the mail server refused the sender or the recipients',
  EMESSAGE: 'the mail server refused the message',
  EPROTOCOL: 'the mail server broke off',
  ECONNECTION: 'the connection was cut',
};

/** The same of what a library threw. */
export function faultOf(error: unknown): DeliveryFault {
  if (error instanceof DeliveryFault) return error;
  const chain = causes(error);
  if (chain.some(({ name }) => name === 'TimeoutError')) return new DeliveryFault('no answer in time');
  const codes = chain
    .flatMap(({ originalCode, code }) => [originalCode, code])
    .filter((code) => typeof code === 'string');
  const known = codes.find(isKnown);
  if (known !== undefined) return new DeliveryFault(`${reasons[known]}${replyOf(chain)}`);
  const certificate = codes.some((code) => /CERT|SIGNATURE|^ERR_TLS|^ERR_SSL/.test(code));
  return new DeliveryFault(
    certificate ? 'the certificate of the other side is not accepted' : 'it could not be sent',
  );
}

/** An error as far as it is looked at. */
interface Thrown {
  name?: unknown;
  code?: unknown;
  /** What the system said, where a library has put a code of its own in its place. */
  originalCode?: unknown;
  responseCode?: unknown;
}

/** The error and what caused it; of several causes the first. */
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

/** The number of a mail server's reply. */
function replyOf(chain: Thrown[]): string {
  const code = chain.map(({ responseCode }) => responseCode).find((value) => typeof value === 'number');
  return code === undefined ? '' : ` (${code})`;
}
