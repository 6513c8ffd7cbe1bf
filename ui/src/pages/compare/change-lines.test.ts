import { describe, expect, it } from 'vitest';
import { changeLines, type Diff } from './change-lines.ts';
import { changesMarkdown, markdownText } from './changes-markdown.ts';

const none: Diff = {
  scan_id: 'after',
  against: 'before',
  hosts: { added: [], removed: [] },
  ports: { added: [], removed: [], changed: [] },
  vulnerabilities: { new: [], resolved: [], unchanged_count: 0 },
  not_comparable: [],
};
const httpd = { state: 'open', service: 'http', product: 'Apache httpd', version: '2.4.49' };
const finding = (host: string, port: number | null, more: object = {}) => ({
  host,
  port,
  protocol: port === null ? null : 'tcp',
  vulnerability: {
    id: 'CVE-2021-41773',
    title: 'Path traversal',
    severity: 'high',
    detected: '2.4.49',
    ...more,
  } as never,
});
const noteAndOutcome = (diff: Diff) =>
  changeLines(diff).map(({ note, change, outcome }) => [note, change?.after ?? '', outcome]);

describe('the rows of a comparison', () => {
  it('say why a finding is new', () => {
    const diff = {
      ...none,
      hosts: { added: ['h1'], removed: [] },
      ports: {
        ...none.ports,
        added: [{ host: 'h2', port: 80, protocol: 'tcp' as const, ...httpd }],
        changed: [
          {
            host: 'h3',
            port: 80,
            protocol: 'tcp' as const,
            before: { ...httpd, version: '2.4.62' },
            after: httpd,
          },
        ],
      },
      vulnerabilities: {
        ...none.vulnerabilities,
        new: [finding('h1', 80), finding('h2', 80), finding('h3', 80), finding('h4', null)],
      },
    };
    expect(noteAndOutcome(diff).slice(0, 4)).toEqual([
      ['the host responds since', '', ''],
      ['new service: Apache httpd 2.4.49', '', ''],
      ['', '2.4.49', ''],
      ['2.4.49', '', ''],
    ]);
  });

  it('say how a finding was fixed', () => {
    const diff = {
      ...none,
      hosts: { added: [], removed: ['h1'] },
      ports: {
        ...none.ports,
        removed: [{ host: 'h2', port: 80, protocol: 'tcp' as const, ...httpd }],
        changed: [
          {
            host: 'h3',
            port: 80,
            protocol: 'tcp' as const,
            before: httpd,
            after: { ...httpd, version: '2.4.62' },
          },
        ],
      },
      vulnerabilities: {
        ...none.vulnerabilities,
        resolved: [finding('h1', 80), finding('h2', 80), finding('h3', 80), finding('h4', 80)],
      },
    };
    expect(noteAndOutcome(diff).slice(0, 4)).toEqual([
      ['the host does not respond now', '', 'gone'],
      ['the port is no longer open', '', 'closed'],
      ['', '2.4.62', 'changed'],
      ['before: 2.4.49', '', ''],
    ]);
  });

  it('begin with the worst finding, exploited ones that are likely first', () => {
    const found = [
      finding('h', 1, { severity: 'low', id: 'a' }),
      finding('h', 2, { severity: 'critical', id: 'b' }),
      finding('h', 3, { severity: 'critical', id: 'c', kev: true, class: 'likely' }),
    ];
    const lines = changeLines({ ...none, vulnerabilities: { ...none.vulnerabilities, new: found } });
    expect(lines.map((line) => line.finding?.id)).toEqual(['c', 'b', 'a']);
  });

  it('join what is not comparable by host and reason', () => {
    const item = { host: 'h', protocol: 'tcp', reason: 'port_not_planned' as const, missing_in: 'before' };
    const items = [1, 2, 3, 4, 5].map((port) => ({ ...item, port }));
    const whole = {
      host: 'g',
      port: null,
      protocol: null,
      reason: 'out_of_scope' as const,
      missing_in: 'after',
    };
    const lines = changeLines({ ...none, not_comparable: [...items, whole] });
    expect(lines.map(({ host, text, note, open }) => [host, text, note, open.side])).toEqual([
      [
        'h',
        '1/tcp, 2/tcp, 3/tcp and 2 more ports',
        'found after, port not tried before: says nothing about it',
        'after',
      ],
      ['g', 'Whole host', 'found before, not among the targets after: says nothing about it', 'before'],
    ]);
  });

  it('have keys of their own', () => {
    const port = { host: 'h', port: 80, protocol: 'tcp' as const, ...httpd };
    const lines = changeLines({
      ...none,
      ports: {
        added: [port],
        removed: [{ ...port, port: 81 }],
        changed: [{ ...port, port: 82, before: httpd, after: { ...httpd, state: 'closed' } }],
      },
      vulnerabilities: { ...none.vulnerabilities, new: [finding('h', 80)], resolved: [finding('h', 81)] },
    });
    expect(new Set(lines.map(({ key }) => key)).size).toBe(5);
  });
});

describe('changes as Markdown', () => {
  it('name both scans and every change', () => {
    const diff = { ...none, vulnerabilities: { ...none.vulnerabilities, new: [finding('10.0.0.1', 80)] } };
    expect(changesMarkdown('Berlin, Friday', 'Berlin, Saturday', changeLines(diff))).toBe(
      '# Changes\n\nBefore: Berlin, Friday  \nAfter: Berlin, Saturday\n\n## New findings (1)\n\n' +
        '- **high** CVE-2021-41773 Path traversal, `10.0.0.1:80/tcp`: 2.4.49\n',
    );
  });

  it.each([
    ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['[a](javascript:b)', '\\[a\\](javascript:b)'],
    ['see https://evil.example now', 'see `https://evil.example` now'],
    ['@team #12', '`@team` `#12`'],
    ['a\n# b', 'a\\\\x0a\\# b'],
    ['`code` | **bold**', '&#96;code&#96; &#124; \\*\\*bold\\*\\*'],
  ])('leave %j a text', (text, written) => {
    expect(markdownText(text)).toBe(written);
  });
});
