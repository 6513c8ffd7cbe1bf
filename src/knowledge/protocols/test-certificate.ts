import { createPrivateKey, sign } from 'node:crypto';

/** One element of DER (X.690): tag, length, content. */
function element(tag: number, ...content: (Buffer | Buffer[])[]): Buffer {
  const body = Buffer.concat(content.flat());
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...content: Buffer[]) => element(0x30, content);
const oid = (...bytes: number[]) => element(0x06, Buffer.from(bytes));
const utf8 = (text: string) => element(0x0c, Buffer.from(text));

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2));
const p256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1), oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7));
/** Generator of the curve: a valid point and thus a valid public key. */
const point = Buffer.from(
  '046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296' +
    '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
  'hex',
);

/** Private key of every test certificate: the number one, which belongs to the generator. */
export const privateKey = () =>
  createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: Buffer.concat([Buffer.alloc(31), Buffer.from([1])]).toString('base64url'),
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  });

/** Alternative names and, for an authority, basic constraints. */
function extensions(names: string[], ca: boolean): Buffer {
  const list = sequence(...names.map((name) => element(0x82, Buffer.from(name, 'latin1'))));
  const constraints = sequence(element(0x01, Buffer.from([0xff])));
  const parts = [
    ...(names.length === 0 ? [] : [sequence(oid(0x55, 0x1d, 0x11), element(0x04, list))]),
    ...(ca ? [sequence(oid(0x55, 0x1d, 0x13), element(0x04, constraints))] : []),
  ];
  return parts.length === 0 ? Buffer.alloc(0) : element(0xa3, sequence(...parts));
}

function time(text: string): Buffer {
  return element(text.length === 15 ? 0x18 : 0x17, Buffer.from(text));
}

/**
 * A certificate of any shape for tests, with a dummy signature unless it is `signed` by its own key. Dates are
 * `YYMMDDHHMMSSZ` (UTCTime) or `YYYYMMDDHHMMSSZ` (GeneralizedTime).
 */
export function certificateDer(options: {
  commonName: string;
  issuer?: string;
  notBefore?: string;
  notAfter?: string;
  serial?: number[];
  /** DNS names (subjectAltName). */
  sans?: string[];
  /** May sign others. */
  ca?: boolean;
  signed?: boolean;
  /** Replaces the default public key (SubjectPublicKeyInfo). */
  publicKey?: Buffer;
}): Buffer {
  const name = (text: string) => sequence(element(0x31, sequence(oid(0x55, 4, 3), utf8(text))));
  const body = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.from(options.serial ?? [1])),
    ecdsaWithSha256,
    name(options.issuer ?? options.commonName),
    sequence(time(options.notBefore ?? '250101000000Z'), time(options.notAfter ?? '350101000000Z')),
    name(options.commonName),
    options.publicKey ?? sequence(p256, element(0x03, Buffer.from([0]), point)),
    extensions(options.sans ?? [], options.ca ?? false),
  );
  const integer = element(0x02, Buffer.from([1]));
  const signature = options.signed ? sign('sha256', body, privateKey()) : sequence(integer, integer);
  return sequence(body, ecdsaWithSha256, element(0x03, Buffer.from([0]), signature));
}
