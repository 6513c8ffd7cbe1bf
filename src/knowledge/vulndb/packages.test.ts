import { expect, test } from 'vitest';
import { mainName } from '../products/cpe-aliases.ts';
import { isVendorBuilt, packages, packagesOf, releaseByVersion } from './packages.ts';

test.each(Object.entries(packages))('%s is filed under its main name and has packages', (product, names) => {
  const colon = product.indexOf(':');
  expect(mainName(product.slice(0, colon), product.slice(colon + 1))).toBe(product);
  for (const list of [names.deb, names.rpm]) {
    expect(list.length).toBeGreaterThan(0);
    expect(list.every((name) => /^[a-z0-9][a-z0-9.+-]+$/.test(name))).toBe(true);
  }
});

test('a product that nobody packages has no names', () => {
  expect(packagesOf('microsoft:exchange_server')).toBeNull();
  expect(packagesOf('constructor')).toBeNull();
});

test.each([
  ['openbsd:openssh', 'debian', '9.2p1', '12'],
  ['openbsd:openssh', 'ubuntu', '8.9p1', '22.04'],
  ['isc:bind', 'ubuntu', '9.10.3-P4', '16.04'],
  ['apache:http_server', 'rhel', '2.4.6', '7'],
  // Two releases have it.
  ['f5:nginx', 'ubuntu', '1.18.0', null],
  ['openbsd:openssh', 'fedora', '9.2p1', null],
  ['vendor:product', 'debian', '1', null],
])('%s of %s %s is release %s', (product, distribution, upstream, release) => {
  expect(releaseByVersion(product, distribution, upstream)).toBe(release);
});

test('what vendors build themselves, and what they do not', () => {
  expect(isVendorBuilt('atlassian:confluence_server')).toBe(true);
  expect(isVendorBuilt('f5:nginx_plus')).toBe(true);
  expect(isVendorBuilt('f5:nginx')).toBe(false);
  expect(isVendorBuilt('vmware:rabbitmq')).toBe(false);
  expect(isVendorBuilt('apache:activemq')).toBe(false);
  expect(isVendorBuilt('apache:solr')).toBe(true);
});
