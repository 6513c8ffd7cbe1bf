import type { Endpoint } from '../host.ts';

/** Result of a TLS handshake. `chain` is DER in base64, leaf first. */
export interface TlsObservation {
  version: string;
  cipher: string;
  alpn: string | null;
  chain: string[];
  /** `required`: the server ends sessions of clients without a certificate. Absent: no request was seen. */
  client_certificate?: 'requested' | 'required' | undefined;
  /** Why the server ended the handshake or the session after it; the rest is what it had shown by then. */
  error?: string | undefined;
  survey?: TlsEnumeration | undefined;
}

/** What a server accepts in one version. */
export interface TlsVersionSupport {
  /** `SSLv2`, `SSLv3`, `TLSv1.0`, ... */
  version: string;
  /** In the server's order of preference, with IANA registry names. */
  suites: string[];
  /** Who chooses the suite; null if there is only one, or unknown. */
  order: 'server' | 'client' | null;
}

/** Result of a TLS enumeration; null = unknown, or not applicable to this server. */
export interface TlsEnumeration {
  /** The accepted versions, oldest first. */
  accepted: TlsVersionSupport[];
  /** Key exchange groups, in the server's order of preference. */
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
  /** Further chains for other key types, each DER in base64, leaf first. */
  other_chains: string[][];
  handshakes: number;
  /** False if time, the handshake budget or an unresponsive server ended it early. */
  complete: boolean;
  /** How the server behaves beyond what it accepts. */
  traits?: TlsTraits | undefined;
}

/** Results of special handshakes; null = not tested, unknown, or not applicable. */
export interface TlsTraits {
  /** Fingerprints of the responses to two fixed hellos, the newer version first. */
  hello_prints: string[];
  /** A TLS 1.3 server marks its random when a client offers only older versions. */
  downgrade_mark: boolean | null;
  /** The server supports heartbeats (RFC 6520). */
  heartbeat: boolean | null;
  /** The server staples the status of its certificate (OCSP). */
  ocsp_stapling: boolean | null;
  /** A second handshake resumed the session of the first. */
  session_resumption: boolean | null;
  /** Lifetime of a session ticket as announced by the server, seconds. */
  ticket_lifetime: number | null;
  /** Bytes of early data that a TLS 1.3 client may send; 0 = none. */
  early_data: number | null;
  /** Client-initiated renegotiation is allowed. */
  client_renegotiation: boolean | null;
  /** Bytes of memory returned for an empty heartbeat (CVE-2014-0160). */
  heartbleed_bytes: number | null;
  /** The server decrypted before any key was agreed upon (CVE-2014-0224). */
  early_cipher_change: boolean | null;
  /** Bytes of memory after an echoed session ID (CVE-2016-9244). */
  ticketbleed_bytes: number | null;
  /** Reaction to each form of a badly padded secret, if they are distinguishable (ROBOT); else empty. */
  padding_reactions: string[] | null;
}

/**
 * Prefix of the reason if the server speaks TLS but rejected the handshake, for example for a missing or unknown
 * name.
 */
export const tlsRejection = 'the server rejected the handshake with the alert';

/** End of the reason if the peer had sent something before the handshake broke off. */
export const tlsBrokenOff = ', after the peer had responded';

/** One request of a probe and what came back, bytes in base64. */
export interface Exchange {
  sent_b64: string;
  received_b64: string;
}

/**
 * Why the service of an open port is not identified. `timeout`: responses were late although the machine or the link was
 * slow, or the port accepted no connection; `rate`: the rate limit left no time; `cut`: the scan or the port ended before
 * they were done; `tarpit`: not probed, since too many ports of the host showed no sign of life; `unproven`: it accepts
 * connections and shows no sign of life, as everything on its host or behind a SYN proxy; `fragile`: ports of control
 * systems and printers get nothing beyond one exchange of their own protocol.
 */
export const unidentifiedReasons = ['timeout', 'rate', 'cut', 'tarpit', 'unproven', 'fragile'] as const;
export type UnidentifiedReason = (typeof unidentifiedReasons)[number];

/** The reasons as sentences. */
export const unidentifiedTexts: ReadonlyMap<string, string> = new Map<UnidentifiedReason, string>([
  ['timeout', 'Some probes got no response in time.'],
  ['rate', 'The rate limit left no time for some probes.'],
  ['cut', 'The scan ended before its probes were done.'],
  ['tarpit', 'It was not probed: too many ports of its host showed no sign of life.'],
  ['unproven', 'It accepts connections, but nothing came back: there may be no service.'],
  ['fragile', 'Ports of control systems and printers get one request of their own protocol at most.'],
]);

/** The response of a service to one probe (key `banners`, identity: host, port, protocol, probe). */
export interface Banner extends Endpoint {
  /** Printable ASCII with CR, LF and TAB; every other byte as `\xNN`. */
  banner: string;
  /** The exact bytes, if `banner` alone cannot reproduce them. */
  banner_b64?: string | undefined;
  /** Name of the probe that got the response; `null` = the service spoke first or stayed silent. */
  probe: string;
  /** The response was truncated at a limit. */
  truncated: boolean;
  /** The connection was lost before the response was complete. */
  partial: boolean;
  tls?: TlsObservation | undefined;
  /** Why there is no TLS, if it was tried. */
  tls_error?: string | undefined;
  exchange?: Exchange[] | undefined;
  /** Only in the first banner of a port whose probes timed out, or that was not probed; or in one of its own. */
  unidentified_reason?: UnidentifiedReason | undefined;
  /** The responses to the further requested names of the address; the others are those to its first name. */
  sites?: SiteBanner[] | undefined;
}

/** A response of a port to a request that named another host. */
export interface SiteBanner extends Omit<Banner, 'sites'> {
  name: string;
}

/** The responses of a port by the name in the request, in the order of the names; null is that of the port itself. */
export function responsesByName(banner: Banner): Map<string | null, Banner[]> {
  const responses = new Map<string | null, Banner[]>([[null, [banner]]]);
  for (const site of banner.sites ?? []) {
    const known = responses.get(site.name);
    if (known) known.push(site);
    else responses.set(site.name, [site]);
  }
  return responses;
}

const hexDigits = '0123456789abcdef';

/** Renders bytes of a target as text that is safe to store and keeps every byte visible. */
export function bannerText(bytes: Uint8Array): string {
  // Replacing byte by byte would block the event loop for half a second at 1 MiB of binary data.
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

/** The text form of a response, and its exact bytes in base64 if the text alone cannot reproduce them. */
export function describeBytes(bytes: Uint8Array): { banner: string; banner_b64?: string } {
  const banner = bannerText(bytes);
  if (banner.length === bytes.length) return { banner };
  return { banner, banner_b64: Buffer.from(bytes).toString('base64') };
}

/** The exact bytes of a response. */
export function bannerBytes(banner: Pick<Banner, 'banner' | 'banner_b64'>): Buffer {
  return banner.banner_b64 ? Buffer.from(banner.banner_b64, 'base64') : Buffer.from(banner.banner, 'latin1');
}
