import { gzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { fuzzRounds, fuzzTimeout } from '../../../test/rounds.ts';
import { type Banner, describeBytes } from '../../domain/text/banner.ts';
import { DeviceClaims, deviceClaimsOfFact } from '../hosts/host-device.ts';
import { factsOfBanner } from '../hosts/host-facts.ts';
import { SystemClaims, systemClaimsOfFact } from '../hosts/host-system.ts';
import { HostTraits, TraitTable } from '../hosts/host-traits.ts';
import { claimsOf, resolveClaims } from '../rules/claims.ts';
import { builtinRules } from '../rules/rule-catalog.ts';
import { parseFtp } from './ftp.ts';
import { parseHttp } from './http.ts';
import { serverBytes } from './probe-session.ts';
import { parseSmtp } from './smtp.ts';
import { parseSsh } from './ssh.ts';
import { certificateDer } from './test-certificate.ts';
import { parseTls } from './tls.ts';

/** Mutated responses per parser. */
const rounds = fuzzRounds(2000);
const timeout = fuzzTimeout(rounds);

const latin1 = (text: string) => Buffer.from(text, 'latin1');

function bannerOf(bytes: Buffer): Banner {
  const endpoint = { host: '192.0.2.1', port: 1, protocol: 'tcp' } as const;
  return { ...endpoint, ...describeBytes(bytes), probe: 'null', truncated: false, partial: false };
}

function kexInit(): Buffer {
  const lists = [
    'curve25519-sha256,kex-strict-s-v00@openssh.com',
    'ssh-ed25519,rsa-sha2-512',
    'aes256-ctr',
    'aes256-ctr',
  ];
  lists.push('hmac-sha2-256', 'hmac-sha2-256', 'none,zlib@openssh.com', 'none', '', '');
  const parts = [Buffer.from([20]), Buffer.alloc(16, 7)];
  for (const list of lists) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(list.length);
    parts.push(length, latin1(list));
  }
  const payload = Buffer.concat([...parts, Buffer.alloc(5)]);
  const padding = 8 - ((payload.length + 5) % 8) + 8;
  const head = Buffer.alloc(5);
  head.writeUInt32BE(payload.length + 1 + padding);
  head[4] = padding;
  return Buffer.concat([head, payload, Buffer.alloc(padding)]);
}

/** Key exchange reply: host key, the server's public share and a signature, all dummies. */
function keyReply(): Buffer {
  const text = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const key = Buffer.concat([text(latin1('ssh-ed25519')), text(Buffer.alloc(32, 7))]);
  const payload = Buffer.concat([
    Buffer.from([31]),
    text(key),
    text(Buffer.alloc(32)),
    text(Buffer.alloc(64)),
  ]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(1 + payload.length + 8);
  head[4] = 8;
  return Buffer.concat([head, payload, Buffer.alloc(8)]);
}

const page =
  '<!doctype html><html><head><TITLE>Caf\xc3\xa9 &amp; &#8364;</title><meta name="generator" content="WordPress 6.4.2"></head></html>';
const seeds: Record<string, Buffer[]> = {
  http: [
    latin1(
      `HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nSet-Cookie: PHPSESSID=1; path=/\r\nWWW-Authenticate: Basic realm="x"\r\n\r\n${page}`,
    ),
    latin1(
      'HTTP/1.0 301 Moved\r\nLocation: https://a.example/\r\nX-Powered-By: PHP/8.2.7, ASP.NET\r\nContent-Length: 3\r\n\r\nabc',
    ),
    latin1(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n',
    ),
    Buffer.concat([latin1('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n'), gzipSync(page.repeat(20))]),
    latin1('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nServer: Apache\r\n folded\r\n\r\n'),
  ],
  ssh: [
    Buffer.concat([latin1('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n'), kexInit()]),
    Buffer.concat([latin1('SSH-2.0-OpenSSH_9.2p1\r\n'), kexInit(), keyReply()]),
    latin1('Welcome\r\nto the host\r\nSSH-1.99-dropbear_2022.83\n'),
  ],
  smtp: [
    latin1(
      '220 mail.example ESMTP Postfix (Debian/GNU)\r\n250-mail.example\r\n250-SIZE 10240000\r\n250-STARTTLS\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME\r\n',
    ),
    latin1('220-mx.example ESMTP Exim 4.96\r\n220-no spam\r\n220 go\r\n502 5.5.2 Error\r\n'),
  ],
  ftp: [
    latin1('220 (vsFTPd 3.0.3)\r\n211-Features:\r\n AUTH TLS\r\n UTF8\r\n211 End\r\n215 UNIX Type: L8\r\n'),
    latin1('220-Welcome to Pure-FTPd\r\n220 ok\r\n530 You are not logged in\r\n'),
  ],
};

/** A small reproducible generator of 32-bit numbers (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function mutate(bytes: Buffer, pick: (below: number) => number): Buffer {
  let mutated: Buffer = Buffer.from(bytes);
  for (let change = 0; change <= pick(4); change++) {
    const at = pick(mutated.length + 1);
    const length = pick(16);
    const noise = Buffer.from(Array.from({ length }, () => pick(256)));
    const piece = mutated.subarray(at, at + length);
    const kinds = [
      () => Buffer.concat([mutated.subarray(0, at), noise, mutated.subarray(at)]),
      () => Buffer.concat([mutated.subarray(0, at), mutated.subarray(at + length)]),
      () => Buffer.concat([mutated.subarray(0, at), noise, mutated.subarray(at + length)]),
      () =>
        Buffer.concat([
          mutated.subarray(0, at),
          ...Array<Buffer>(pick(200)).fill(piece),
          mutated.subarray(at),
        ]),
      () => mutated.subarray(0, at),
    ];
    mutated = (kinds[pick(kinds.length)] as () => Buffer)();
  }
  return mutated;
}

const text = { type: 'string', maxLength: 60_000 };
const shortText = { type: 'string', maxLength: 4096 };
const textOrNull = { type: ['string', 'null'], maxLength: 4096 };
const texts = (maxItems: number) => ({ type: 'array', maxItems, items: shortText });
const record = (properties: Record<string, object>, optional: Record<string, object> = {}) => ({
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
  additionalProperties: false,
});
const schemas: Record<string, object> = {
  http: record({
    version: shortText,
    status: { type: 'integer', minimum: 0, maximum: 999 },
    reason: shortText,
    headers: { type: 'object', maxProperties: 100, additionalProperties: shortText },
    server: textOrNull,
    title: { type: ['string', 'null'], maxLength: 512 },
    location: textOrNull,
    cookies: texts(32),
    auth: { type: 'array', maxItems: 8, items: record({ scheme: shortText, realm: textOrNull }) },
    generator: { type: ['string', 'null'], maxLength: 512 },
    body_size: { type: 'integer', minimum: 0, maximum: 1024 * 1024 },
    body_sha256: { type: ['string', 'null'], pattern: '^[0-9a-f]{64}$' },
    technologies: { type: 'array', maxItems: 20, items: record({ name: shortText, version: textOrNull }) },
  }),
  ssh: record(
    { version: { type: 'string', pattern: '^\\d+\\.\\d+$' }, software: shortText, comment: textOrNull },
    {
      kex_algorithms: texts(200),
      host_key_types: texts(200),
      ciphers: texts(200),
      macs: texts(200),
      compression: texts(200),
      hassh_server: { type: 'string', pattern: '^[0-9a-f]{32}$' },
      host_keys: {
        type: 'array',
        minItems: 1,
        maxItems: 1,
        items: record({
          type: { type: 'string', pattern: '^[a-z0-9@._-]{1,64}$' },
          sha256: { type: 'string', pattern: '^[A-Za-z0-9+/]{43}$' },
        }),
      },
    },
  ),
  smtp: record(
    { code: { type: 'integer' }, greeting: text, hostname: textOrNull },
    { extensions: texts(64), starttls: { type: 'boolean' }, auth_methods: texts(64) },
  ),
  ftp: record(
    { code: { type: 'integer' }, greeting: text },
    { features: texts(64), system: shortText, auth_tls: { type: 'boolean' }, anonymous: { type: 'boolean' } },
  ),
};
const parsers: Record<string, (bytes: Buffer) => { facts: unknown } | null> = {
  http: parseHttp,
  ssh: parseSsh,
  smtp: parseSmtp,
  ftp: (bytes) => parseFtp(bytes, ['FEAT\r\n']),
};

/** Lone surrogates would not survive as UTF-8. */
function isWellFormed(facts: unknown): boolean {
  let wellFormed = true;
  JSON.stringify(facts, (key, value) => {
    if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) wellFormed = false;
    return value;
  });
  return wellFormed;
}

describe.each(Object.keys(seeds))('%s', (protocol) => {
  const parse = parsers[protocol] as (bytes: Buffer) => { facts: unknown } | null;
  const valid = new Ajv2020({ allowUnionTypes: true }).compile(schemas[protocol] as object);

  test('reads every seed into a record that matches its schema', () => {
    for (const seed of seeds[protocol] ?? []) {
      const parsed = parse(seed);
      expect(parsed).not.toBeNull();
      expect(valid(parsed?.facts), JSON.stringify(valid.errors)).toBe(true);
    }
  });

  test(`takes ${rounds} mutated responses without exception or invalid record`, { timeout }, () => {
    const pick = random(20_261_121);
    const corpus = seeds[protocol] as Buffer[];
    let recognized = 0;
    for (let round = 0; round < rounds; round++) {
      const bytes = mutate(corpus[pick(corpus.length)] as Buffer, pick);
      const facts = parse(bytes)?.facts;
      const shown = `round ${round}: ${bytes.toString('base64').slice(0, 400)}`;
      if (facts === undefined) continue;
      recognized++;
      if (!valid(facts)) expect.fail(`${shown}: ${JSON.stringify(valid.errors)}`);
      if (!isWellFormed(facts)) expect.fail(`${shown}: lone surrogate`);
    }
    expect(recognized).toBeGreaterThan(rounds / 20);
  });

  test('returns the same result wherever the stream is split', () => {
    for (const seed of seeds[protocol] ?? []) {
      const whole = JSON.stringify(parse(seed));
      for (let at = 0; at <= seed.length; at++) {
        const parts = [seed.subarray(0, at), seed.subarray(at)];
        const exchange = parts.map((part) => ({ sent_b64: '', received_b64: part.toString('base64') }));
        const greetingOnly = { ...bannerOf(parts[0] as Buffer), exchange };
        const everything = { ...bannerOf(seed), exchange };
        expect(JSON.stringify(parse(serverBytes(greetingOnly)))).toBe(whole);
        expect(JSON.stringify(parse(serverBytes(everything)))).toBe(whole);
      }
    }
  });
});

test(`the whole recognition takes ${rounds} mutated responses`, { timeout }, () => {
  const pick = random(7);
  const corpus = [...Object.values(seeds).flat(), ...builtinRules.signatures.flatMap(rawExamples)];
  const probes = ['null', 'http', 'redis', 'postgresql', 'dns-tcp', 'mysql'];
  for (let round = 0; round < rounds; round++) {
    const bytes = mutate(corpus[pick(corpus.length)] as Buffer, pick);
    const probe = probes[pick(probes.length)] as string;
    const banner: Banner = { ...bannerOf(bytes), protocol: round % 2 ? 'tcp' : 'udp', probe };
    const claims = claimsOf(banner, builtinRules, ['banner', 'http', 'tls']);
    const record = resolveClaims(banner, claims, { minConfidence: 0.5, maxProtocols: 3 });
    expect(JSON.stringify(record).length).toBeLessThan(20_000);
  }
});

test(`host facts from ${rounds} mutated responses stay within their limits`, { timeout }, () => {
  const pick = random(13);
  const corpus = [...Object.values(seeds).flat(), ...builtinRules.signatures.flatMap(rawExamples)];
  for (let round = 0; round < rounds; round++) {
    const bytes = mutate(corpus[pick(corpus.length)] as Buffer, pick);
    const banner = bannerOf(bytes);
    const traits = new HostTraits(banner.host, new TraitTable());
    const [systems, devices] = [new SystemClaims(), new DeviceClaims()];
    for (const fact of factsOfBanner(banner)) {
      traits.addFact(fact);
      systems.add(systemClaimsOfFact(fact));
      devices.add(deviceClaimsOfFact(fact));
    }
    const observed = [
      traits.profile(),
      systems.verdict(),
      systems.evidence(),
      devices.verdict(),
      devices.evidence(),
    ];
    expect(JSON.stringify(observed).length).toBeLessThan(60_000);
  }
});

function rawExamples(signature: { source: string; examples: { text: string }[] }): Buffer[] {
  return signature.source === 'banner.raw' ? signature.examples.map((example) => latin1(example.text)) : [];
}

test('mutated certificates are read or rejected with a reason', { timeout }, () => {
  const pick = random(11);
  const seed = certificateDer({ commonName: 'a.example' });
  for (let round = 0; round < Math.min(rounds, 20_000); round++) {
    const der = mutate(seed, pick);
    const observation = { version: 'TLSv1.3', cipher: 'x', alpn: null, chain: [der.toString('base64')] };
    expect(() => JSON.stringify(parseTls(observation))).not.toThrow();
  }
});
