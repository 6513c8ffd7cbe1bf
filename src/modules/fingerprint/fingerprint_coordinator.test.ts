import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { Fingerprint } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import coordinator from './fingerprint_coordinator.ts';

const run = (banners: Banner[], options: Record<string, unknown> = {}) =>
  runModule<Fingerprint>(coordinator, { banners }, options);

const ssh = bannerOf(22, 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n');
const web = bannerOf(80, 'HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\n\r\n', { probe: 'http' });
const silent = bannerOf(81, '');

test('the coordinator publishes one record per port and none for a silent port', async () => {
  const found = await run([ssh, web, silent, web]);
  expect(found.map(({ port, match, product }) => [port, match, product])).toEqual([
    [22, 'ssh', 'OpenSSH'],
    [80, 'http', 'nginx'],
  ]);
});

test('a rules file adds signatures, and min_confidence leaves weak claims out', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'rules-'));
  try {
    const rules = join(dir, 'rules.yaml');
    const own = `- { id: own.gadget, service: gadget, source: banner.raw, pattern: '^GADGET (?P<version>\\d+)', product: Gadget,
    vendor: null, version: '{version}', certainty: 0.6, examples: [{ text: GADGET 7, version: '7' }] }`;
    await writeFile(rules, own);
    const gadget = bannerOf(4242, 'GADGET 7\r\n');
    expect(await run([gadget], { rules })).toMatchObject([
      { match: 'gadget', product: 'Gadget', version: '7' },
    ]);
    expect(await run([gadget], { rules, min_confidence: 70 })).toEqual([]);
  } finally {
    await rm(dir, { recursive: true });
  }
});

test('a rules file that is wrong fails the module with file and line', async () => {
  await expect(run([ssh], { rules: '/nonexistent/rules.yaml' })).rejects.toThrow(/rules\.yaml/);
});

test('unknown options are refused', async () => {
  await expect(run([], { colour: 'red' })).rejects.toThrow(/colour/);
});

test('products of further sites stand beside that of the port, with the name in their evidence', async () => {
  const site = (name: string, text: string) => ({ ...bannerOf(80, text, { probe: 'http' }), name });
  const sites = [
    site('v2.test', 'HTTP/1.1 200 OK\r\nServer: Apache/2.4.58\r\n\r\n'),
    site('v3.test', 'HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\n\r\n'),
  ];
  const [found] = await run([{ ...web, sites }]);
  expect(found?.product).toBe('nginx');
  expect(found?.evidence).not.toContain('test');
  expect(found?.alternatives.map(({ product, evidence }) => [product, evidence])).toEqual([
    ['Apache httpd', expect.stringMatching(/^v2\.test: /)],
  ]);
});
