import type { Endpoint } from './host.ts';

/** What a TLS handshake showed. `chain` is DER in base64, leaf first. */
export interface TlsObservation {
  version: string;
  cipher: string;
  alpn: string | null;
  chain: string[];
  survey?: TlsEnumeration | undefined;
}

/** What a server accepts in one version. */
export interface TlsVersionSupport {
  /** `SSLv2`, `SSLv3`, `TLSv1.0`, ... */
  version: string;
  /** Names as in the IANA registry, in the order in which the server picked them. */
  suites: string[];
  /** Who decides between suites; null where one suite leaves no choice, or it was not found out. */
  order: 'server' | 'client' | null;
}

/** What many handshakes showed; null = not found out, or without meaning for this server. */
export interface TlsEnumeration {
  /** The versions that the server accepts, the oldest first. */
  accepted: TlsVersionSupport[];
  /** Groups of the key exchange, in the order in which the server picked them. */
  groups: string[];
  /** The shortest prime of a Diffie-Hellman exchange, and the shortest RSA key of an export suite, in bits. */
  dh_bits: number | null;
  export_rsa_bits: number | null;
  alpn_protocols: string[];
  compression: boolean | null;
  secure_renegotiation: boolean | null;
  extended_master_secret: boolean | null;
  session_tickets: boolean | null;
  fallback_scsv: boolean | null;
  /** Chains beside that of the observation, each DER in base64, leaf first: for keys of another kind. */
  other_chains: string[][];
  handshakes: number;
  /** False when time, the budget of handshakes or a silent server ended it early. */
  complete: boolean;
  /** How the server behaves beyond what it accepts. */
  traits?: TlsTraits | undefined;
}

/** What handshakes with a question of their own showed; null = not asked, not found out, or without meaning. */
export interface TlsTraits {
  /** Prints of the answers to two hellos that are always the same, the newer version first. */
  hello_prints: string[];
  /** A server of TLS 1.3 marks its random when it is asked for less. */
  downgrade_mark: boolean | null;
  /** The server would receive heartbeats (RFC 6520). */
  heartbeat: boolean | null;
  /** It brings the status of its certificate along (OCSP). */
  ocsp_stapling: boolean | null;
  /** A second handshake went on where the first one ended. */
  session_resumption: boolean | null;
  /** Seconds for which the server says that the ticket of its session can be used. */
  ticket_lifetime: number | null;
  /** Bytes that a client may send in TLS 1.3 before the handshake is over; 0 = none. */
  early_data: number | null;
  /** A client may begin a further handshake inside the connection. */
  client_renegotiation: boolean | null;
  /** Bytes of its memory that a heartbeat without content drew (CVE-2014-0160). */
  heartbleed_bytes: number | null;
  /** It began to decrypt before any key was agreed upon (CVE-2014-0224). */
  early_cipher_change: boolean | null;
  /** Bytes of its memory behind the name of a session that it repeated (CVE-2016-9244). */
  ticketbleed_bytes: number | null;
  /** How it reacted to each form of a badly padded secret, where it tells them apart (ROBOT); else empty. */
  padding_reactions: string[] | null;
}

/** How the reason begins when the server spoke TLS, and refused us: by a missing or unknown name, for instance. */
export const tlsRejection = 'the server rejected the handshake with the alert';

/** One request of a probe and what came back, bytes in base64. */
export interface Exchange {
  sent_b64: string;
  received_b64: string;
}

/**
 * Why probes of a port could not find out what it is. `timeout`: responses did not come in time although the machine or
 * the link was late, or the port accepted no connection; `rate`: the rate limit left no time; `cut`: the scan or the
 * port ended before they were done.
 */
export const unidentifiedReasons = ['timeout', 'rate', 'cut'] as const;
export type UnidentifiedReason = (typeof unidentifiedReasons)[number];

/** What a service said to one probe (key `banners`, identity: host, port, protocol, probe). */
export interface Banner extends Endpoint {
  /** Printable ASCII with CR, LF and TAB; every other byte as `\xNN`. */
  banner: string;
  /** The exact bytes, present when `banner` alone cannot give them back. */
  banner_b64?: string | undefined;
  /** Name of the probe that drew the answer; `null` = the service spoke first or stayed silent. */
  probe: string;
  /** A cap cut the answer short. */
  truncated: boolean;
  /** The connection broke before the answer was complete. */
  partial: boolean;
  tls?: TlsObservation | undefined;
  /** Why there is no TLS, when it was tried. */
  tls_error?: string | undefined;
  exchange?: Exchange[] | undefined;
  /** In the first banner of a port whose probes had no time. */
  unidentified_reason?: UnidentifiedReason | undefined;
}

const hexDigits = '0123456789abcdef';

/** Renders bytes of a target as text that is safe to store and keeps every byte visible. */
export function bannerText(bytes: Uint8Array): string {
  // A replacement for each byte would stop everything for half a second when a mebibyte of noise comes.
  const text = Buffer.allocUnsafe(4 * bytes.length);
  let length = 0;
  for (const byte of bytes) {
    if ((byte >= 0x20 && byte <= 0x7e) || byte === 0x09 || byte === 0x0a || byte === 0x0d) {
      text[length++] = byte;
    } else {
      text[length++] = 0x5c;
      text[length++] = 0x78;
      text[length++] = hexDigits.charCodeAt(byte >> 4);
      text[length++] = hexDigits.charCodeAt(byte & 15);
    }
  }
  return text.toString('latin1', 0, length);
}

/** The text form of an answer, and its exact bytes in base64 when the text alone cannot give them back. */
export function describeBytes(bytes: Uint8Array): { banner: string; banner_b64?: string } {
  const banner = bannerText(bytes);
  if (banner.length === bytes.length) return { banner };
  return { banner, banner_b64: Buffer.from(bytes).toString('base64') };
}

/** The exact bytes of an answer. */
export function bannerBytes(banner: Pick<Banner, 'banner' | 'banner_b64'>): Buffer {
  return banner.banner_b64 ? Buffer.from(banner.banner_b64, 'base64') : Buffer.from(banner.banner, 'latin1');
}
