import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Config } from '../../config/schema.ts';
import { builtinRules } from '../../knowledge/rules/rule-catalog.ts';
import { installedSets, loadFingerprints, syncedSets } from './load-fingerprints.ts';
import { ScanFingerprints } from './scan-fingerprints.ts';

const rule = (id: string, certainty = 0.6) => ({
  id,
  service: 'gadget',
  source: 'banner.raw',
  pattern: '^GADGET',
  product: id,
  vendor: null,
  certainty,
  examples: [{ text: 'GADGET' }],
});

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fingerprints-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const configOf = (rules: string[], enabled = true) =>
  ({ fingerprint: { rules }, workspace: { dir, enabled } }) as unknown as Config;

async function fill(): Promise<string> {
  await syncedSets(dir).write({ name: 'synced', origin: 'synced', source: 'x' }, [rule('from.feed')]);
  await installedSets(dir).write({ name: 'own', origin: 'added', source: 'x' }, [rule('from.set')]);
  const file = join(dir, 'rules.json');
  await writeFile(file, JSON.stringify([rule('from.file')]));
  return file;
}

test('files of the configuration go before installed sets, these before fetched ones', async () => {
  const { catalogue, sets, problems } = await loadFingerprints(configOf([await fill()]));
  expect(problems).toEqual([]);
  expect(sets.map(({ header }) => header.name)).toEqual(['rules.json', 'own', 'synced']);
  expect(catalogue.match('banner.raw', 'GADGET').map(({ product }) => product)).toEqual([
    'from.file',
    'from.set',
    'from.feed',
  ]);
  expect(catalogue.version).toMatch(
    /^[\d-]{10}\+synced@[0-9a-f]{8}\+own@[0-9a-f]{8}\+rules\.json@[0-9a-f]{8}$/,
  );
});

test('without a workspace only the files count, and without anything the builtin catalogue itself', async () => {
  const file = await fill();
  const { sets } = await loadFingerprints(configOf([file], false));
  expect(sets.map(({ header }) => header.name)).toEqual(['rules.json']);
  expect((await loadFingerprints(configOf([], false))).catalogue).toBe(builtinRules);
});

test('skips an invalid file with a warning and scans with the others', async () => {
  await fill();
  await writeFile(join(dir, 'bad.yaml'), '- id: x');
  const warnings: string[] = [];
  const scan = new ScanFingerprints(configOf([join(dir, 'bad.yaml'), join(dir, 'none.yaml')]), (text) =>
    warnings.push(text),
  );
  expect(scan.version).toBe(builtinRules.version);
  const [catalogue] = await Promise.all([scan.of(''), scan.of('')]);
  expect(catalogue.match('banner.raw', 'GADGET')).toHaveLength(2);
  expect(warnings).toEqual([expect.stringContaining('bad.yaml:1'), expect.stringContaining('none.yaml')]);
  expect(scan.version).toBe(catalogue.version);
});

test('a scan keeps its rules, and a file that it names itself must be good', async () => {
  const file = await fill();
  const scan = new ScanFingerprints(configOf([]), () => undefined);
  const first = await scan.of(file);
  expect(first.match('banner.raw', 'GADGET')[0]?.product).toBe('from.file');
  expect(scan.version).toMatch(/\+rules@[0-9a-f]{8}$/);
  await installedSets(dir).remove('own');
  expect(await scan.of(file)).toBe(first);
  expect((await scan.of('')).match('banner.raw', 'GADGET')).toHaveLength(2);
  await expect(scan.of(join(dir, 'none.yaml'))).rejects.toMatchObject({ code: 'configuration' });
});
