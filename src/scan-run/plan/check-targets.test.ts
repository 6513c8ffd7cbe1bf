import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import type { FieldProblem } from '../../domain/errors.ts';
import { checkTargets } from './check-targets.ts';

function check(
  submission: { targets: string[]; exclude?: string[] },
  rules: { allow?: string[]; deny?: string[]; blocklist?: string[]; maxAddresses?: number } = {},
) {
  const { config } = loadConfig({ env: {} });
  config.scanner.scope.allow = rules.allow ?? [];
  config.scanner.scope.deny = rules.deny ?? [];
  config.scanner.blocklist = rules.blocklist ?? [];
  config.scanner.max_addresses = rules.maxAddresses ?? 0;
  const problems: FieldProblem[] = [];
  return { ...checkTargets(submission, config, problems), problems };
}

const outside = { field: 'targets', reason: 'out_of_scope' };

describe('checkTargets', () => {
  it('hands the parsed targets and exclusions on', () => {
    const { targets, excluded, problems } = check({
      targets: ['192.0.2.1,web.example'],
      exclude: ['192.0.2.1'],
    });
    expect([...targets.addresses]).toEqual(['192.0.2.1']);
    expect(targets.hostnames).toEqual(['web.example']);
    expect(excluded.covered.size).toBe(1n);
    expect(problems).toEqual([]);
  });

  it.each([
    [['192.0.2.0/30'], ['192.0.2.0/24'], 'nothing is left to scan: exclude has every target'],
    [
      ['192.0.2.1', 'web.example'],
      ['192.0.2.1', 'WEB.example'],
      'nothing is left to scan: exclude has every target',
    ],
    [
      ['192.0.2.4/31'],
      ['192.0.2.4'],
      'nothing is left to scan: exclude, scanner.scope and scanner.blocklist leave no address',
    ],
    [['192.0.2.1', 'web.example'], ['192.0.2.1'], null],
    [['web.example/30'], ['192.0.2.0/24'], null],
    [['192.0.2.0/30'], ['192.0.2.1'], null],
  ])('%s without %s: %s', (targets, exclude, reason) => {
    const { problems } = check({ targets, exclude }, { blocklist: ['192.0.2.5'] });
    expect(problems).toEqual(reason === null ? [] : [{ field: 'targets', reason }]);
  });

  it('rejects each item out of scope with its position, repeated ones too', () => {
    const targets = ['192.0.2.1, 198.51.100.7', 'web.example', '198.51.100.7'];
    const { rejections, problems } = check({ targets }, { allow: ['192.0.2.0/24'] });
    const hint = 'to authorize it, add it to scanner.scope.allow';
    expect(rejections).toEqual([
      { index: 0, value: '198.51.100.7', reason: 'out_of_scope', hint },
      { index: 2, value: '198.51.100.7', reason: 'out_of_scope', hint },
    ]);
    expect(problems).toEqual([outside]);
  });

  it('rejects an item inside the blocklist, and none that the blocklist covers in part', () => {
    const targets = ['192.0.2.5', '192.0.2.0/24'];
    const { rejections } = check({ targets }, { blocklist: ['192.0.2.5'] });
    expect(rejections).toEqual([
      { index: 0, value: '192.0.2.5', reason: 'out_of_scope', hint: 'scanner.blocklist contains it' },
    ]);
  });

  it('names scanner.scope.deny when it takes the target away', () => {
    const { rejections } = check({ targets: ['192.0.2.5'] }, { deny: ['192.0.2.0/24'] });
    expect(rejections[0]?.hint).toBe('to authorize it, set scanner.scope.deny to a list without it');
  });

  it('rejects invalid targets instead of checking the scope of the others', () => {
    const { rejections, problems } = check({ targets: ['192.0.2.1', 'a b'] }, { allow: ['198.51.100.0/24'] });
    expect(rejections).toMatchObject([{ index: 1, value: 'a b' }]);
    expect(problems).toEqual([{ field: 'targets', reason: 'invalid target' }]);
  });

  it('counts addresses without the excluded ones', () => {
    const submission = { targets: ['192.0.2.0/24'], exclude: ['192.0.2.0/25'] };
    expect(check(submission, { maxAddresses: 127 }).problems).toEqual([]);
    expect(check(submission, { maxAddresses: 126 }).problems).toMatchObject([
      { field: 'targets', reason: expect.stringContaining('127 addresses, the limit is 126') },
    ]);
  });

  it('parses nothing of a list above the limit', () => {
    const { targets, problems } = check({ targets: [`192.0.2.1${',192.0.2.1'.repeat(10_000)}`] });
    expect(targets.items).toEqual([]);
    expect(problems).toEqual([{ field: 'targets', reason: 'at most 10000 entries, not 10001' }]);
  });
});
