import { expect, test } from 'vitest';
import { type Banner, describeBytes } from '../../domain/text/banner.ts';
import type { Probe } from '../probes/probe.ts';
import { probes } from '../probes/probes.ts';
import { webProbes } from '../probes/web.ts';
import { udpProbes } from '../requests/udp-probes.ts';
import { claimsOf, resolveClaims } from './claims.ts';
import { builtinRules } from './rule-catalog.ts';

const host = '198.51.100.7';
/** UDP ports that have probes of their own. */
const udpPorts = Array.from({ length: 65_535 }, (_, index) => index + 1).filter(
  (port) => udpProbes(port).length > 0,
);

function requestsOf({ steps, ports }: Probe): Buffer[] {
  return steps.map(({ send }) => {
    const request = typeof send === 'function' ? send(host, Buffer.alloc(0), ports[0] ?? 4242) : send;
    return typeof request === 'string' ? Buffer.from(request, 'latin1') : Buffer.from(request);
  });
}

const requests: [name: string, protocol: 'tcp' | 'udp', port: number, request: Buffer][] = [
  ...[...probes, ...webProbes].flatMap((probe) =>
    requestsOf(probe).map(
      (request) => [probe.name, 'tcp' as const, probe.ports[0] ?? 4242, request] as const,
    ),
  ),
  ...udpPorts.flatMap((port) =>
    udpProbes(port).flatMap(({ name, bytes }) => {
      const request = typeof bytes === 'function' ? bytes(host) : bytes;
      return request ? [[name, 'udp' as const, port, Buffer.from(request)] as const] : [];
    }),
  ),
].map((each) => [...each]);

/** Requests that a service of the protocol answers alike. */
const sentByBoth = new Set(['jdwp', 'rsync', 'vnc', 'bzflag', 'milter']);

function seen([probe, protocol, port, request]: (typeof requests)[number], response: Buffer) {
  const banner: Banner = {
    host,
    port,
    protocol,
    ...describeBytes(response),
    probe,
    truncated: false,
    partial: false,
    exchange: [{ sent_b64: request.toString('base64'), received_b64: '' }],
  };
  const claims = claimsOf(banner, builtinRules, ['banner', 'http', 'tls']);
  return resolveClaims({ host, port, protocol }, claims, { minConfidence: 0, maxProtocols: 10 });
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const forms: [string, (request: Buffer) => Buffer][] = [
  ['as it is', (request) => request],
  [
    'in upper case',
    (request) => latin1(request.toString('latin1').replace(/[a-z]/g, (letter) => letter.toUpperCase())),
  ],
  ['backwards', (request) => Buffer.from(request).reverse()],
  ['behind a text', (request) => Buffer.concat([latin1('you said: '), request])],
  ['in hexadecimal', (request) => latin1(request.toString('hex'))],
  ['in Base64', (request) => latin1(request.toString('base64'))],
];

test.each(forms)('no request that comes back %s names a service or product', (form, change) => {
  const wrong = requests.flatMap((each) => {
    // Beside other text a few bytes are no repetition, and a keyword is none.
    const isText = /^[\x20-\x7e\r\n]*$/.test(each[3].toString('latin1'));
    if (form === 'behind a text' && each[3].toString('latin1').trim().length < (isText ? 16 : 8)) return [];
    const found = seen(each, change(each[3]));
    const names = found ? [found, ...found.alternatives].map(({ match, product }) => product ?? match) : [];
    return names.filter((name) => name !== 'echo').map((name) => `${each[1]} ${each[0]}: ${name}`);
  });
  expect(wrong.filter((text) => !sentByBoth.has(text.split(/[ :]/, 2)[1] ?? ''))).toEqual([]);
});
