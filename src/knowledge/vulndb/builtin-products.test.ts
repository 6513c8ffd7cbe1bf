import { expect, test } from 'vitest';
import { parseCpe } from '../products/cpe.ts';
import { mainName } from '../products/cpe-aliases.ts';
import { builtinRules } from '../rules/rule-catalog.ts';
import { builtinEntries } from './builtin.ts';
import { vulnerableProducts } from './product-key.ts';

/** Products that none of their responses name, each with the reason. */
const silent: Record<string, string> = {
  'apache:log4j': 'a library',
  'apache:rocketmq': 'a protocol that is not spoken here',
  'cisco:rv320_firmware': 'its pages do not say what they are',
  'cisco:rv325_firmware': 'its pages do not say what they are',
  'microsoft:windows_10_1903': 'an operating system, named by its build',
  'microsoft:windows_10_1909': 'an operating system, named by its build',
  'microsoft:windows_7': 'an operating system, named by its build',
  'microsoft:windows_server_1903': 'an operating system, named by its build',
  'microsoft:windows_server_1909': 'an operating system, named by its build',
  'microsoft:windows_server_2003': 'an operating system, named by its build',
  'microsoft:windows_server_2008': 'an operating system, named by its build',
  'microsoft:windows_server_2012': 'an operating system, named by its build',
  'microsoft:windows_xp': 'an operating system, named by its build',
  'tp-link:archer_ax21_firmware': 'its pages do not say what they are',
};

test('what the builtin catalog knows flaws of is named by a signature, or is known to be silent', () => {
  const named = new Set(
    builtinRules.signatures.flatMap(({ cpe }) =>
      cpe ? [mainName(cpe.vendor ?? '', cpe.product ?? '')] : [],
    ),
  );
  const products = new Set(
    builtinEntries.flatMap(({ record }) =>
      [...vulnerableProducts(record)].map((key) => {
        const [vendor = '', product = ''] = key.split('\0');
        return mainName(vendor, product);
      }),
    ),
  );
  const unnamed = [...products].filter((product) => !named.has(product)).sort();
  expect(unnamed).toEqual(Object.keys(silent).sort());
});

test('the number of a part is no number of the whole', () => {
  const cpesOf = (source: string, text: string) =>
    builtinRules.match(source, text).flatMap(({ cpe }) => cpe ?? []);
  expect(cpesOf('ssh.software', 'Erlang/4.15.2')).toEqual(['cpe:2.3:a:erlang:ssh:4.15.2:*:*:*:*:*:*:*']);
  expect(cpesOf('http.component', 'mod_ssl/2.4.62')).toEqual([]);
  expect(cpesOf('http.component', 'mod_gnutls/0.12.1')).toEqual([]);
});

test('a signature calls a product what it is: a flaw of an application is none of an operating system', () => {
  const parts = new Map<string, Set<string>>();
  for (const { record } of builtinEntries) {
    for (const { matches } of record.configurations.flatMap(({ nodes }) => nodes)) {
      for (const { cpe, vulnerable } of matches) {
        const parsed = parseCpe(cpe);
        if (!vulnerable || parsed === null) continue;
        const key = mainName(parsed.vendor, parsed.product);
        parts.set(key, (parts.get(key) ?? new Set()).add(parsed.part));
      }
    }
  }
  const wrong = builtinRules.signatures.filter(({ cpe }) => {
    const known = cpe && parts.get(mainName(cpe.vendor ?? '', cpe.product ?? ''));
    return known && !known.has(cpe.part);
  });
  expect(wrong.map(({ id }) => id)).toEqual([]);
});
