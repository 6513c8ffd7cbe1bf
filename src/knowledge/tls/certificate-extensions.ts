import { elementAt, elementsIn } from './der-reader.ts';

/** Fields of a certificate that are searched for extensions. */
const fieldLimit = 16;
/** Extensions of a certificate. */
const extensionLimit = 64;
/** Signed certificate timestamps that are counted. */
const timestampLimit = 32;

const tag = { sequence: 0x30, objectId: 0x06, octets: 0x04, extensions: 0xa3 } as const;

/** Object identifiers in hexadecimal: signed certificate timestamps (RFC 6962, 3.3), TLS features (RFC 7633, 4). */
const timestampsId = '2b06010401d679020402';
const featuresId = '2b06010505070118';

/** TLS feature `status_request`: the number of its TLS extension. */
const statusFeature = 5;

export interface ExtensionFacts {
  /** Number of signed certificate timestamps embedded in the certificate. */
  timestamps: number;
  /** Clients must reject it without a stapled status (OCSP must-staple). */
  mustStaple: boolean;
}

/** Extensions of a DER certificate that `X509Certificate` does not expose (RFC 5280, 4.1). */
export function readExtensions(der: Buffer): ExtensionFacts {
  const facts: ExtensionFacts = { timestamps: 0, mustStaple: false };
  for (const [id, value] of extensionsOf(der)) {
    if (id === timestampsId) facts.timestamps = countTimestamps(value);
    if (id === featuresId) facts.mustStaple = hasStatusFeature(value);
  }
  return facts;
}

function extensionsOf(der: Buffer): [id: string, value: Buffer][] {
  const certificate = elementAt(der, 0);
  const body = certificate && elementAt(certificate.content, 0);
  const fields = body ? elementsIn(body.content, fieldLimit) : [];
  const block = fields.find((field) => field.tag === tag.extensions);
  const list = block && elementAt(block.content, 0);
  return (list ? elementsIn(list.content, extensionLimit) : []).flatMap(({ content }) => {
    const parts = elementsIn(content, 3);
    const [id, value] = [parts[0], parts.at(-1)];
    if (id?.tag !== tag.objectId || value?.tag !== tag.octets) return [];
    return [[id.content.toString('hex'), value.content]];
  });
}

/** A list with a two-byte length; each timestamp has one too. */
function countTimestamps(value: Buffer): number {
  const list = elementAt(value, 0)?.content ?? Buffer.alloc(0);
  let count = 0;
  for (let at = 2; at + 2 <= list.length && count < timestampLimit; count++) at += 2 + list.readUInt16BE(at);
  return count;
}

function hasStatusFeature(value: Buffer): boolean {
  const list = elementAt(value, 0);
  return list !== null && elementsIn(list.content, fieldLimit).some(({ content }) => isStatus(content));
}

function isStatus(number: Buffer): boolean {
  return number.length === 1 && number[0] === statusFeature;
}
