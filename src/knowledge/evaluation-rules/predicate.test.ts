import { describe, expect, it } from 'vitest';
import { compilePredicate } from './predicate.ts';
import type { RuleOperator, RuleScalar, RuleValue } from './rule.ts';

/** Whether a condition holds for a value; lists are several values of one field. */
function holds(
  field: string,
  operator: RuleOperator,
  value: RuleValue,
  seen: RuleScalar | RuleScalar[],
): boolean {
  const values = Array.isArray(seen) ? seen : [seen];
  return compilePredicate({ field, operator, value })({ field, values }) !== null;
}

const held: [field: string, operator: RuleOperator, value: RuleValue, seen: RuleScalar | RuleScalar[]][] = [
  ['service', 'equals', 'ssh', 'ssh'],
  ['port', 'equals', 22, 22],
  ['tls.expired', 'equals', true, true],
  ['ssh.macs', 'equals', 'hmac-md5', ['hmac-sha2-256', 'hmac-md5']],
  ['banner', 'contains', 'OpenSSH', 'SSH-2.0-OpenSSH_9.2p1'],
  ['ssh.software', 'startsWith', 'Open', 'OpenSSH_9.2p1'],
  ['tls.sans', 'endsWith', '.lan', ['a.example.net', 'b.lan']],
  ['http.title', 'matches', '(?i)^index of', 'Index of /'],
  ['http.status', 'gt', 399, 400],
  ['http.status', 'gte', 400, 400],
  ['http.status', 'lt', 400, 399],
  ['http.status', 'lte', 400, 400],
  ['http.status', 'between', [200, 299], 299],
  ['tls.not_after', 'lt', '2030-01-01', '2029-12-31T23:59:59.000Z'],
  ['tls.not_after', 'between', ['2029-01-01', '2030-01-01'], '2029-12-31T23:59:59.000Z'],
  ['version', 'version_eq', '2.4.58', '2.4.58-1ubuntu8'],
  ['version', 'version_eq', '9.2', '9.2p1'],
  ['version', 'version_lt', '2.4.59', '2.4.58-1ubuntu8'],
  ['version', 'version_lt', '2.4.58-1ubuntu8.5', '2.4.58-1ubuntu8.4'],
  ['version', 'version_gt', '9.2p1', '9.2p2'],
  ['version', 'version_lte', '1.3.5', '1.3.5rc1'],
  ['version', 'version_gte', '10.0', '10.0.0'],
  ['version', 'version_between', ['8.5p1', '9.7p1'], '9.2p1'],
  ['service', 'in', ['http', 'https'], 'https'],
  ['service', 'notIn', ['http', 'https'], 'ssh'],
  ['service', 'exists', true, 'ssh'],
  ['attributes.foo.level', 'equals', 3, '3'],
];

const failed: typeof held = [
  ['service', 'equals', 'ssh', 'SSH'],
  ['port', 'equals', 22, 2222],
  ['ssh.macs', 'equals', 'hmac-md5', ['hmac-md5-96']],
  ['banner', 'contains', 'OpenSSH', 'SSH-2.0-dropbear'],
  ['ssh.software', 'startsWith', 'SSH', 'OpenSSH_9.2p1'],
  ['tls.sans', 'endsWith', '.lan', ['lan.example.net']],
  ['http.title', 'matches', '^index of', 'Index of /'],
  ['http.status', 'gt', 400, 400],
  ['http.status', 'lt', 400, 400],
  ['http.status', 'between', [200, 299], 300],
  ['tls.not_after', 'lt', '2029-01-01', '2029-12-31T23:59:59.000Z'],
  ['tls.not_after', 'lt', '2029-01-01', 'no date'],
  ['version', 'version_eq', '2.4.58', '2.4.58.1'],
  ['version', 'version_lt', '2.4.58', '2.4.58-1ubuntu8'],
  ['version', 'version_lt', '2.4.58-1ubuntu8', '2.4.58-1ubuntu8.4'],
  ['version', 'version_gt', '9.2', '9.2p1'],
  ['version', 'version_lt', '1.0', 'unknown'],
  ['version', 'version_lt', '7.58', '7'],
  ['version', 'version_lte', '1.18.3', '1.18'],
  ['version', 'version_between', ['7.0', '7.58'], '7'],
  ['version', 'version_between', ['8.5p1', '9.7p1'], '9.8p1'],
  ['service', 'in', ['http', 'https'], 'ssh'],
  ['service', 'notIn', ['http', 'https'], 'http'],
  ['attributes.foo.level', 'gt', 1, 'two'],
];

const certainOfPart: typeof failed = [
  ['version', 'version_lt', '8.1', '7'],
  ['version', 'version_gte', '7.0', '7'],
];

describe('a condition', () => {
  it.each(held)('%s %s %j holds for %j', (field, operator, value, seen) => {
    expect(holds(field, operator, value, seen)).toBe(true);
  });

  it.each(failed)('%s %s %j does not hold for %j', (field, operator, value, seen) => {
    expect(holds(field, operator, value, seen)).toBe(false);
  });

  it.each(certainOfPart)('%s %s %j holds for %j, whatever follows it', (field, operator, value, seen) => {
    expect(holds(field, operator, value, seen)).toBe(true);
  });

  it('compares versions as the product does', () => {
    const older = compilePredicate({ field: 'version', operator: 'version_lt', value: '15.2(4)M4' });
    expect(older({ field: 'version', values: ['15.2(4)M3'], scheme: 'cisco_ios' })).toBe('15.2(4)M3');
  });

  it('shows every element that matches, without control characters', () => {
    const weak = compilePredicate({ field: 'ssh.macs', operator: 'contains', value: 'md5' });
    const values = ['hmac-md5', 'hmac-sha2-256', 'hmac-md5-96\u001b[2J'];
    expect(weak({ field: 'ssh.macs', values })).toBe('hmac-md5, hmac-md5-96\\x1b[2J');
    expect(weak({ field: 'ssh.macs', values: Array.from({ length: 99 }, () => 'md5') })).toMatch(
      /(md5, ){9}md5 and more$/,
    );
  });

  it('shows the part of a long text that matches', () => {
    const text = `${'x'.repeat(5000)}needle`;
    const banner = (operator: RuleOperator, value: string) =>
      compilePredicate({ field: 'banner', operator, value })({ field: 'banner', values: [text] });
    expect(banner('contains', 'needle')).toBe('needle');
    // Patterns read a bounded part.
    expect(banner('matches', 'ne+dle')).toBeNull();
    expect(banner('matches', 'x{3}')).toBe('xxx');
  });
});
