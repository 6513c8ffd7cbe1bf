import { describe, expect, it } from 'vitest';
import { channelsOfRules, isAtLeast, letsAlertsThrough, reportForms } from './rules.ts';

interface GivenRule {
  channels?: string[];
  events?: string[];
  min_severity?: 'critical' | 'high';
  only_changes?: boolean;
}

const settingsOf = (rules: GivenRule[], hookEvents: string[] = []) => ({
  rules: rules.map((rule) => ({
    channels: [],
    events: [],
    min_severity: null,
    only_changes: false,
    ...rule,
  })),
  webhooks: [{ name: 'siem', url: 'https://siem.example/', secret: null, headers: {}, events: hookEvents }],
});

/** Forms as text: event, then the severity if there is one. */
function forms(rules: GivenRule[], { hookEvents = [] as string[], channel = 'slack://a' } = {}) {
  const found = reportForms(settingsOf(rules, hookEvents), channel, 'completed');
  return found.map(({ event, min_severity }) => (min_severity ? `${event} ${min_severity}` : event));
}

describe('what a channel may get about a completed scan', () => {
  it.each<[string, GivenRule[], string[]]>([
    ['everything without a rule', [], ['scan.completed', 'scan.changed']],
    [
      'everything where all rules name others',
      [{ channels: ['slack://b'] }],
      ['scan.completed', 'scan.changed'],
    ],
    ['changes only', [{ only_changes: true }], ['scan.changed']],
    ['changes, by event', [{ events: ['scan.changed'] }], ['scan.changed']],
    ['changes of completed scans', [{ events: ['scan.completed'], only_changes: true }], ['scan.changed']],
    ['nothing: only failures', [{ events: ['scan.failed'], only_changes: true }], []],
    ['nothing: only alerts', [{ events: ['alert'] }], []],
    ['from a severity', [{ min_severity: 'high' }], ['scan.completed high']],
    [
      'from the lowest severity of its rules',
      [{ min_severity: 'critical' }, { min_severity: 'high' }],
      ['scan.completed high'],
    ],
    [
      'the whole of bad ones, else changes',
      [{ min_severity: 'critical' }, { only_changes: true }],
      ['scan.completed critical', 'scan.changed'],
    ],
    [
      'by its own rules, not by those for the rest',
      [{ channels: ['slack://a'], only_changes: true }, { min_severity: 'high' }],
      ['scan.changed'],
    ],
  ])('%s', (_what, rules, expected) => {
    expect(forms(rules)).toEqual(expected);
  });

  it('is what a webhook is subscribed to', () => {
    const channel = 'webhook://siem';
    expect(forms([], { channel, hookEvents: ['scan.changed'] })).toEqual(['scan.changed']);
    expect(forms([], { channel, hookEvents: ['scan.completed'] })).toEqual(['scan.completed']);
    // The delivery then reports that the webhook is not subscribed.
    expect(forms([], { channel, hookEvents: ['scan.failed'] })).toEqual(['scan.completed']);
    expect(forms([], { hookEvents: ['scan.changed'] })).toEqual(['scan.completed', 'scan.changed']);
  });
});

it('a failed scan is reported whatever was found, unless no rule is for failures', () => {
  const failed = (rules: GivenRule[]) =>
    reportForms(settingsOf(rules), 'slack://a', 'failed').map(({ event, min_severity }) => [
      event,
      min_severity,
    ]);
  expect(failed([{ min_severity: 'critical', only_changes: true }])).toEqual([['scan.failed', null]]);
  expect(failed([])).toEqual([['scan.failed', null]]);
  expect(failed([{ events: ['scan.completed'] }])).toEqual([]);
});

it('alerts pass where no rule keeps them out', () => {
  const passes = (rules: GivenRule[]) => letsAlertsThrough(settingsOf(rules), 'slack://a');
  expect([passes([]), passes([{}]), passes([{ events: ['alert'] }])]).toEqual([true, true, true]);
  expect(passes([{ events: ['scan.failed'] }])).toBe(false);
  expect(passes([{ channels: ['slack://b'], events: ['scan.failed'] }])).toBe(true);
});

it('rules add their channels to scans, except those for alerts', () => {
  const rules = [
    { channels: ['slack://a', 'slack://b'] },
    { channels: ['slack://b'], events: ['scan.failed'] },
    { channels: ['slack://c'], events: ['alert'] },
  ];
  expect(channelsOfRules(settingsOf(rules))).toEqual(['slack://a', 'slack://b']);
});

it('a severity is at least itself and every lower one', () => {
  expect([isAtLeast('high', 'high'), isAtLeast('critical', 'high'), isAtLeast('medium', 'high')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(isAtLeast('info', null)).toBe(true);
});
