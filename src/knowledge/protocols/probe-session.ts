import { type Banner, bannerBytes, bannerText } from '../../domain/text/banner.ts';
import { isBlank, withoutRepeats } from './repeated-request.ts';

/** Maximum number of requests read from one probe session. */
const exchangeLimit = 16;

/**
 * What the service said by itself in one probe session: its greeting and the response to each request, with blanks for
 * what it repeats of the requests.
 */
export function serverBytes(banner: Banner): Buffer {
  return withoutRepeats(receivedBytes(banner), requestsOf(banner));
}

/** The text of the banner, with blanks for what it repeats of the requests. */
export function serverText(banner: Banner): string {
  if (banner.exchange === undefined) return banner.banner;
  return bannerText(withoutRepeats(bannerBytes(banner), requestsOf(banner)));
}

/** The service only repeats what it receives (RFC 862), in whatever form. */
export function isEcho(banner: Banner): boolean {
  return isBlank(serverBytes(banner)) && repeatsRequest(banner);
}

/** A part of the response at least repeats a request. */
export function repeatsRequest(banner: Banner): boolean {
  const bytes = receivedBytes(banner);
  return withoutRepeats(bytes, requestsOf(banner)) !== bytes;
}

/**
 * Everything the service sent, in order. Reads both forms of a record: with the responses repeated in the exchanges, or
 * only there.
 */
function receivedBytes(banner: Banner): Buffer {
  const raw = bannerBytes(banner);
  const responses = receivedResponses(banner);
  if (responses.length === 0) return raw;
  const joined = Buffer.concat(responses);
  if (startsWith(joined, raw)) return joined;
  if (startsWith(raw, joined) || endsWith(raw, joined)) return raw;
  return Buffer.concat([raw, joined]);
}

/** The response to each request of the probe, in order. */
export function receivedResponses(banner: Banner): Buffer[] {
  return (banner.exchange ?? [])
    .slice(0, exchangeLimit)
    .map((step) => Buffer.from(step.received_b64, 'base64'));
}

/** The requests of the probe as latin1 text, in order. */
export function sentRequests(banner: Banner): string[] {
  return requestsOf(banner).map((request) => request.toString('latin1'));
}

function requestsOf(banner: Banner): Buffer[] {
  return (banner.exchange ?? []).slice(0, exchangeLimit).map((step) => Buffer.from(step.sent_b64, 'base64'));
}

/** Requests that upgrade a plain connection to TLS (STARTTLS): such a connection is not TLS from the first byte. */
const upgradeRequest =
  /^(?:STARTTLS|AUTH TLS|AUTH SSL|STLS|[\w.]{1,16} STARTTLS)\r?\n|^<starttls |^\0\0\0\x08\x04\xd2\x16\x2f$|^0[^]{6,9}\x80\x161\.3\.6\.1\.4\.1\.1466\.20037$/im;

/** The connection was TLS from its first byte. */
export function isSecure(banner: Banner): boolean {
  return banner.tls !== undefined && !sentRequests(banner).some((request) => upgradeRequest.test(request));
}

function startsWith(bytes: Buffer, head: Buffer): boolean {
  return bytes.length >= head.length && bytes.subarray(0, head.length).equals(head);
}

function endsWith(bytes: Buffer, tail: Buffer): boolean {
  return bytes.length >= tail.length && bytes.subarray(bytes.length - tail.length).equals(tail);
}
