import { describe, expect, test } from 'vitest';
import { mainName } from '../products/cpe-aliases.ts';
import { packagesOf } from './packages.ts';
import { releasesWith, shippedVersions } from './shipped-versions.ts';

describe.each(Object.entries(shippedVersions))('%s', (product, versions) => {
  test('is filed under its main name, and distributions have it', () => {
    const colon = product.indexOf(':');
    expect(mainName(product.slice(0, colon), product.slice(colon + 1))).toBe(product);
    expect(packagesOf(product)).not.toBeNull();
  });

  test.each(Object.entries(versions))('%s is kept by somebody', (version, releases) => {
    expect(version).toMatch(/^\d+(?:\.\d+)+[a-z]?$/);
    expect(releases.length).toBeGreaterThan(0);
    for (const release of releases)
      expect(release).toMatch(/^[A-Z][\w ]* \d[\d.]*(?: (?:and|to) \d[\d.]*)?$/);
  });
});

test('what nobody keeps', () => {
  expect(releasesWith('f5:nginx', '1.13.2')).toEqual([]);
  expect(releasesWith('f5:nginx', null)).toEqual([]);
  expect(releasesWith('constructor', 'constructor')).toEqual([]);
  expect(releasesWith('f5:nginx', 'constructor')).toEqual([]);
});
