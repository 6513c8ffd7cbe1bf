import { describe, expect, it } from 'vitest';
import { versionLine } from './version-line.ts';

const steps = (html: string) =>
  [...html.matchAll(/<li class="([\w ]+)">(?:<b>)?([^<]*)/g)].map(([, mark, text]) => `${mark}: ${text}`);

describe('the line of versions', () => {
  it('goes from the first affected version over those seen to the fixed one', () => {
    const seen = [
      { version: '8.8p1', hosts: 1 },
      { version: '9.0p1', hosts: 2 },
    ];
    expect(steps(versionLine({ from: '8.5p1', fixed: '9.8p1', seen }, 'high'))).toEqual([
      'fr: 8.5p1 first affected',
      'se: 8.8p1 seen, 1 host',
      'se: 9.0p1 seen, 2 hosts',
      'to: 9.8p1 fixed',
    ]);
  });

  it('names the oldest, the newest and the most frequent of many versions, in their order', () => {
    const seen = [1, 5, 2, 9, 7, 1, 1].map((hosts, at) => ({ version: `1.${at}`, hosts }));
    expect(steps(versionLine({ from: null, fixed: '2.0', seen }, 'low'))).toEqual([
      'fr un: all earlier ones affected',
      'se: 1.0 seen, 1 host',
      'se: 1.1 seen, 5 hosts',
      'se: 1.3 seen, 9 hosts',
      'se: 1.4 seen, 7 hosts',
      'se: 1.6 seen, 1 host',
      'se un: and 2 more',
      'to: 2.0 fixed',
    ]);
  });

  it('is not drawn without a range, and says that no fix is known', () => {
    expect(versionLine({ from: null, fixed: null, seen: [] }, 'low')).toBe('');
    expect(versionLine({ from: '1.0', fixed: null, seen: [] }, 'low')).toContain('no fixed version known');
  });

  it('shows versions of targets as text', () => {
    const seen = [{ version: '<b>\x1b', hosts: 1 }];
    expect(versionLine({ from: '<i>', fixed: '"', seen }, 'high')).not.toMatch(/<i>|\x1b|<b><b>/);
  });
});
