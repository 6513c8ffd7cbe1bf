import { describe, expect, it } from 'vitest';
import {
  changeText,
  clockText,
  confidenceText,
  countedText,
  cvssText,
  dateText,
  dateTimeText,
  endpointText,
  epssText,
  fixAnchor,
  hostAnchor,
  kindAnchor,
  listText,
  longDateText,
  numberText,
  percentText,
  pluralText,
  portAnchor,
  portText,
  secondsText,
  severityWord,
  timeSpanText,
} from './report-text.ts';

describe('numbers of a report', () => {
  it.each([
    [0, '0'],
    [65_536, '65,536'],
    [-1234, '−1,234'],
    [null, '–'],
    [Number.NaN, '–'],
    [Number.POSITIVE_INFINITY, '–'],
  ])('%s is %s', (count, text) => expect(numberText(count)).toBe(text));

  it.each([
    [58, 100, '58 %'],
    [0, 10, '0 %'],
    [10, 10, '100 %'],
    [1, 1000, '< 1 %'],
    [9999, 10_000, '> 99 %'],
    [0, 0, '–'],
    [Number.NaN, 1, '–'],
  ])('%s of %s is %s', (part, whole, text) => expect(percentText(part, whole)).toBe(text));

  it.each([
    [3, '+3'],
    [-4, '−4'],
    [0, '±0'],
    [1500, '+1,500'],
    [null, '–'],
  ])('a change of %s is %s', (change, text) => expect(changeText(change)).toBe(text));

  it.each([
    [0.944, '0.94'],
    [0, '0.00'],
    [0.001, '< 0.01'],
    [1, '1.00'],
    [null, '–'],
    [Number.NaN, '–'],
  ])('EPSS %s is %s', (score, text) => expect(epssText(score)).toBe(text));

  it('CVSS and confidence have their own forms', () => {
    expect([9.8, 10, 0, null].map(cvssText)).toEqual(['9.8', '10.0', '0.0', '–']);
    expect([0.95, 1, 0, null].map(confidenceText)).toEqual(['95 %', '100 %', '0 %', '–']);
  });

  it('counts agree with their nouns', () => {
    expect([pluralText(1, 'host'), pluralText(0, 'host'), pluralText(1200, 'reply', 'replies')]).toEqual([
      '1 host',
      '0 hosts',
      '1,200 replies',
    ]);
    expect([countedText(1, 'update'), countedText(2, 'update'), countedText(11, 'update')]).toEqual([
      'One update',
      'Two updates',
      '11 updates',
    ]);
    expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(listText)).toEqual([
      '',
      'a',
      'a and b',
      'a, b and c',
    ]);
  });
});

describe('times of a report', () => {
  const time = '2026-11-21T14:23:10.500Z';

  it('have a long and a short date, and a clock, in UTC', () => {
    expect(longDateText(time)).toBe('November 21, 2026');
    expect(dateText(time)).toBe('Nov 21, 2026');
    expect(clockText(time)).toBe('14:23:10');
    expect(dateTimeText('2026-11-01T02:03:04+02:00')).toBe('Nov 1, 2026, 00:03 UTC');
  });

  it.each([null, '', 'yesterday', '2026-13-01T00:00:00Z'])('%j is unknown', (bad) => {
    expect([longDateText(bad), dateText(bad), clockText(bad), dateTimeText(bad)]).toEqual([
      '–',
      '–',
      '–',
      '–',
    ]);
    expect([timeSpanText(bad, time), timeSpanText(time, bad)]).toEqual(['–', '–']);
  });

  it('a span names the second date only if it differs', () => {
    expect(timeSpanText('2026-11-21T14:14:18Z', time)).toBe('Nov 21, 2026, 14:14:18 to 14:23:10 UTC');
    expect(timeSpanText('2026-11-20T14:14:18Z', time)).toBe(
      'Nov 20, 2026, 14:14:18 to Nov 21, 2026, 14:23:10 UTC',
    );
  });

  it.each([
    [0, '0 s'],
    [0.42, '0.4 s'],
    [9, '9 s'],
    [9.96, '10 s'],
    [59.4, '59 s'],
    [59.9, '1 min'],
    [532, '8 min 52 s'],
    [3599.7, '1 h'],
    [7500, '2 h 5 min'],
    [86_390, '1 d'],
    [273_600, '3 d 4 h'],
    [null, '–'],
    [-1, '–'],
    [Number.NaN, '–'],
  ])('%s seconds are %s', (seconds, text) => expect(secondsText(seconds)).toBe(text));
});

describe('names of endpoints and anchors', () => {
  it('an IPv6 address with a port stands in brackets', () => {
    expect(endpointText('192.168.20.14', 22)).toBe('192.168.20.14:22');
    expect(endpointText('2001:db8::1', 22)).toBe('[2001:db8::1]:22');
    expect(endpointText('2001:db8::1', null)).toBe('2001:db8::1');
    expect([portText(443, 'tcp'), portText(161, 'udp'), portText(null, null)]).toEqual([
      '443/tcp',
      '161/udp',
      'host',
    ]);
  });

  it('anchors have letters, digits, hyphens and dots only, and differ where hosts differ', () => {
    expect(hostAnchor('192.168.20.14')).toBe('h-192.168.20.14');
    expect(portAnchor('192.168.20.14', 22, 'tcp')).toBe('h-192.168.20.14-22-tcp');
    expect(kindAnchor('CVE-2024-6387')).toBe('f-CVE-2024-6387');
    expect(fixAnchor(2)).toBe('fix-2');
    const hosts = [
      '2001:db8::1',
      '2001-db8--1',
      '2001Xdb8',
      '2001:db8:0:1',
      '"><b>',
      "a'b",
      'a:27-b',
      'X61-',
      'a',
    ];
    const anchors = hosts.map(hostAnchor);
    expect(new Set(anchors).size).toBe(hosts.length);
    const hostile = [...anchors, kindAnchor('"><script>\0\u202e'), kindAnchor('__proto__')];
    for (const anchor of hostile) expect(anchor).toMatch(/^[0-9A-Za-z.-]+$/);
    expect(kindAnchor('x'.repeat(1_000_000)).length).toBeLessThan(300);
  });

  it('severities start with a capital letter', () => {
    expect(severityWord('critical')).toBe('Critical');
  });
});
