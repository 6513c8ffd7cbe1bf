import { describe, expect, it } from 'vitest';
import { eventText } from './event-words.ts';

describe('an event in one line', () => {
  it('names place, finding and service', () => {
    const port = { host: '10.0.0.1', port: 22, protocol: 'tcp' };
    expect(eventText({ ...port, vulnerability: { id: 'CVE-1', title: 'Old' } })).toBe(
      '10.0.0.1 22/tcp · CVE-1 Old',
    );
    expect(eventText({ ...port, service: { product: 'OpenSSH', version: '9.8' }, state: 'open' })).toBe(
      '10.0.0.1 22/tcp · OpenSSH 9.8 · open',
    );
  });

  it('names the control of compliance, and its outcome in words', () => {
    const record = { framework: 'PCI', control: '2.2', title: 'No defaults', status: 'not_assessed' };
    expect(eventText({ host: '10.0.0.1', port: null, ...record })).toBe(
      '10.0.0.1 · PCI 2.2 No defaults · not assessed',
    );
  });

  it('shows what a plugin recorded, and nothing of members that are of other types', () => {
    expect(eventText({ host: null, key: 'old', value: { a: 1 } })).toBe('old: {"a":1}');
    expect(eventText({ host: 1, service: 'x', message: null })).toBe('');
  });
});
