import { expect, test } from 'vitest';
import { aliasesOf, mainName, sameProduct } from './cpe-aliases.ts';

test('every name of a product, its own first', () => {
  const names = aliasesOf('redislabs', 'redis');
  expect(names[0]).toEqual({ vendor: 'redislabs', product: 'redis' });
  expect(names).toContainEqual({ vendor: 'redis', product: 'redis' });
  expect(new Set(names.map(({ vendor, product }) => `${vendor}:${product}`)).size).toBe(names.length);
});

test('a product without other names has its own', () => {
  expect(aliasesOf('oracle', 'http_server')).toEqual([{ vendor: 'oracle', product: 'http_server' }]);
  expect(mainName('oracle', 'http_server')).toBe('oracle:http_server');
});

test.each([
  ['nginx', 'nginx', 'f5:nginx'],
  ['timo_sirainen', 'dovecot', 'dovecot:dovecot'],
  ['university_of_cambridge', 'exim', 'exim:exim'],
  ['mortbay', 'jetty', 'eclipse:jetty'],
  ['beasts', 'vsftpd', 'vsftpd_project:vsftpd'],
  ['proftpd_project', 'proftpd', 'proftpd:proftpd'],
  ['mysql', 'mysql', 'oracle:mysql'],
])('%s:%s is %s', (vendor, product, main) => {
  expect(mainName(vendor, product)).toBe(main);
});

test('no name stands for two products, and each is spelled as CPE names are read', () => {
  const names = sameProduct.flat();
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(names.filter((name) => !/^[a-z0-9._!/-]+:[a-z0-9._!/-]+$/.test(name))).toEqual([]);
});
