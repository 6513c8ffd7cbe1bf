import { type Banner, bannerBytes } from '../../domain/text/banner.ts';

/** Requests of one probe that are looked at. */
const exchangeLimit = 16;

/**
 * Everything the service said to one probe, in order: the greeting and the answers to each request. Both ways of
 * keeping a dialogue are read: the answers may be repeated in the exchanges or stand only there.
 */
export function serverBytes(banner: Banner): Buffer {
  const said = bannerBytes(banner);
  const answers = receivedResponses(banner);
  if (answers.length === 0) return said;
  const answered = Buffer.concat(answers);
  if (startsWith(answered, said)) return answered;
  if (startsWith(said, answered) || endsWith(said, answered)) return said;
  return Buffer.concat([said, answered]);
}

/** The answer to each request of the probe, in order. */
export function receivedResponses(banner: Banner): Buffer[] {
  return (banner.exchange ?? [])
    .slice(0, exchangeLimit)
    .map((step) => Buffer.from(step.received_b64, 'base64'));
}

/** The requests of the probe as latin1 text, in order. */
export function sentRequests(banner: Banner): string[] {
  return (banner.exchange ?? [])
    .slice(0, exchangeLimit)
    .map((step) => Buffer.from(step.sent_b64, 'base64').toString('latin1'));
}

/** Requests that turn a plain dialogue into TLS: what they lead to is not TLS from the first byte. */
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
