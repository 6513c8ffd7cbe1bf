import { describe, expect, it } from 'vitest';
import type { PortolanError } from '../../domain/errors.ts';
import { findingRow } from '../fixtures/report-of-rows.ts';
import { type SyntheticScan, syntheticPresets } from '../fixtures/synthetic-scan.ts';
import { buildReport } from '../model/build-report.ts';
import type { ChangeItem, ReportChanges } from '../model/changes.ts';
import { numberText } from '../model/report-text.ts';
import type { ReportOptions } from '../report-facts.ts';
import type { ReportTemplate } from '../template/report-template.ts';
import { renderMarkdown } from './render-markdown.ts';

const options: ReportOptions = { template: null, paper: 'a4', changes: null, madeAt: '2026-11-21T14:31:00Z' };

/** What trackers take. */
const longestBody = 65_536;

async function rendered(
  scan: SyntheticScan,
  fix?: number,
  more: Partial<ReportOptions> = {},
): Promise<string> {
  const source = { facts: scan.facts, options: { ...options, ...more }, rows: () => scan.rows() };
  return (await Array.fromAsync(renderMarkdown(source, fix))).join('');
}

const modelOf = (scan: SyntheticScan) => buildReport(scan.facts, options, scan.rows());

/** The lines outside of blocks of code. */
function linesOf(markdown: string): string[] {
  let fence = '';
  return markdown.split('\n').filter((line) => {
    const found = /^`{3,}/.exec(line)?.[0] ?? '';
    const inside = fence !== '';
    if (!inside) fence = found;
    else if (found.length >= fence.length) fence = '';
    return !inside && found === '';
  });
}

/** Rows of tables by their numbers of cells. */
function tablesOf(markdown: string): number[][] {
  const tables: number[][] = [[]];
  for (const line of linesOf(markdown)) {
    if (line.startsWith('|')) tables.at(-1)?.push(line.split('|').length - 2);
    else if (tables.at(-1)?.length !== 0) tables.push([]);
  }
  return tables.filter((rows) => rows.length > 0);
}

describe.each(['office', 'empty', 'hostile', 'canceled', 'longNames', 'fifty'] as const)(
  'of the scan %s',
  (preset) => {
    const scan = syntheticPresets[preset]();

    it('the body and the ticket of each action have whole tables, no HTML and a limited length', async () => {
      const { actions } = await modelOf(scan);
      const bodies = [await rendered(scan)];
      for (const { rank } of actions) bodies.push(await rendered(scan, rank));
      for (const body of bodies) {
        expect(body.length).toBeLessThan(longestBody);
        expect(body.isWellFormed()).toBe(true);
        expect(body).not.toMatch(/[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n\t]]/v);
        for (const rows of tablesOf(body)) expect(new Set(rows).size).toBe(1);
        for (const line of linesOf(body)) {
          const outside = line.replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
          expect(outside.replace(/<https:\/\/[^\s<>`|\\]*>/g, '')).not.toMatch(/<|@\w|https?:\/\//);
        }
      }
    });

    it('the counts are those of the model', async () => {
      const { summary, actions, verdict } = await modelOf(scan);
      const body = await rendered(scan);
      const { classes, exploited } = summary;
      const total = [classes.all, classes.certain, classes.likely, classes.possible, exploited.all];
      expect(body).toContain(`| **All** | ${total.map((count) => `**${numberText(count)}**`).join(' | ')} |`);
      expect(body).toContain(verdict.split(/[“"]/)[0]);
      const listed = linesOf(body).filter((line) => /^\| \d+ \|/.test(line));
      expect(listed.map((line) => line.split(' | ').slice(-3, -1).join(' '))).toEqual(
        actions.map(({ hosts, findings }) => `${numberText(hosts)} ${numberText(findings)}`),
      );
    });
  },
);

describe('a ticket about one action', () => {
  const office = syntheticPresets.office();

  it('says what to do, why, where, what it removes and how to see that it is done', async () => {
    const body = await rendered(office, 2);
    expect(body).toMatch(/^## Update nginx to 1\.27\.1 or install the distribution's fix\n/);
    expect(body).toContain('18 findings on 9 hosts: 4 likely, 14 possible.');
    expect(body).toContain('**Check before acting:** 14 of 18 findings');
    expect(body).toMatch(/\*\*Do:\*\* .*1\.27\.1/);
    expect(body).toContain('| `192.168.20.21` | `proxy-1.example.net` | 443/tcp | `1.24.0` | likely |');
    expect(body).toContain('- `CVE-2023-44487` high, known exploited, EPSS 0.94, CVSS 7.5, on 2 hosts: ');
    expect(body).toContain('- `CVE-2023-44487` medium, known exploited, EPSS 0.94, CVSS 7.5, on 7 hosts: ');
    expect(body).toContain('<https://nvd.nist.gov/vuln/detail/CVE-2023-44487>');
    expect(body).toContain(
      '`portolan scan 192.168.20.14-15,192.168.20.21-22,192.168.20.25,192.168.20.44,192.168.20.51-52,192.168.20.112 --profile standard --ports 443 ',
    );
    expect(body).toMatch(/Scan `20261121-141418-a1b2c3`.* Fix 2 of 11\.\n$/);
  });

  it('says how much is cut, and where the rest is', async () => {
    const thousand = syntheticPresets.thousand();
    const [first] = (await modelOf(thousand)).actions.toSorted((a, b) => b.findings - a.findings);
    const body = await rendered(thousand, first?.rank ?? 0);
    const rows = linesOf(body).filter((line) => line.startsWith('| `')).length;
    const left = (first?.places.length ?? 0) + (first?.placesLeft ?? 0) - rows;
    expect(left).toBeGreaterThan(0);
    const command = `\`portolan workspace export ${thousand.facts.scan_id} --format json\``;
    expect(body).toContain(`And ${numberText(left)} more places: ${command}`);
    expect(body).toContain(`more kinds: ${command}`);
    expect(body.length).toBeLessThan(longestBody);
  });

  it.each([0, 12, -1, 1.5, Number.NaN])(
    'of the unknown rank %s is refused, with the ranks that there are',
    async (fix) => {
      const error: PortolanError = await rendered(office, fix).then(expect.unreachable, (reason) => reason);
      expect(error.code).toBe('invalid_request');
      expect(error.message).toBe(
        'fix must be an integer from 1 to 11, the rank of an action in the fix list',
      );
      expect(error.details).toMatchObject({ fields: [{ field: 'fix' }] });
    },
  );

  it('is refused for a scan without findings', async () => {
    await expect(rendered(syntheticPresets.empty(), 1)).rejects.toThrow('the scan has no findings to remove');
  });
});

it('text that needs many escapes leaves bodies short enough for trackers, and says what is cut', async () => {
  const evil = '<|`'.repeat(3000);
  const actions = Array.from({ length: 150 }, (_, at) => ({
    key: `${at}`,
    text: `${at} ${evil}`,
    update: false,
  }));
  const rows = actions.flatMap((action, at) => {
    const more = {
      action,
      title: evil,
      remediation: evil,
      evidence: evil,
      detected: evil,
      backport_note: evil,
    };
    return [22, 80].map((port) => findingRow(`10.0.0.${at}`, port, `${evil}${at}`, more));
  });
  const { facts } = syntheticPresets.office();
  const scan: SyntheticScan = {
    facts: { ...facts, title: evil, targets: Array.from({ length: 50 }, () => evil) },
    async *rows() {
      yield* rows;
    },
  };
  const hostileChanges = {
    ...changes,
    items: Array.from({ length: 50 }, () => ({
      ...(changes.items[0] as ChangeItem),
      title: evil,
      why: evil,
      id: evil,
    })),
  };
  const body = await rendered(scan, undefined, { changes: hostileChanges });
  expect(body.length).toBeLessThan(longestBody);
  const listed = linesOf(body).filter((line) => /^\| \d+ \|/.test(line)).length;
  expect(listed).toBeGreaterThan(10);
  expect(body).toContain(`And ${150 - listed} more actions: `);
  expect((await rendered(scan, 1)).length).toBeLessThan(longestBody);
});

describe('a template', () => {
  const template: ReportTemplate = {
    name: 'acme',
    title: 'ACME <report>',
    mark: 'Confidential',
    blocks: {
      cover: 'For the board\nof ACME.\n\nAsk @security.',
      fixes: '# Not a heading',
      footer: 'ACME | internal',
    },
    logo: null,
    accent: null,
  };

  it('gives its title, mark and texts, without markup', async () => {
    const body = await rendered(syntheticPresets.office(), undefined, { template });
    expect(body).toMatch(
      /^# ACME &lt;report&gt;: network security scan of Nov 21, 2026\n\n\*\*Confidential\*\*\n/,
    );
    expect(body).toContain('\n\nFor the board of ACME.\n\nAsk `@security.`\n\n|');
    expect(body).toContain('\n\n\\# Not a heading\n');
    expect(body).toMatch(/\n\nACME &#124; internal\n$/);
  });

  it('gives a ticket about one action its mark and footer', async () => {
    const body = await rendered(syntheticPresets.office(), 1, { template });
    expect(body).toMatch(/^## .*\n\n\*\*Confidential\*\*\n/);
    expect(body).toMatch(/\n\nACME &#124; internal\n$/);
    expect(body).not.toContain('For the board');
  });
});

describe('a ticket about a scan', () => {
  it('of what did not reach its end says so, and compares with nothing', async () => {
    const body = await rendered(syntheticPresets.canceled(), undefined, { changes });
    expect(body).toContain('\n> Canceled. Partial results.');
    expect(body).toContain('All so far');
    expect(body).not.toContain('Changed since');
  });

  it('says what changed since an earlier scan', async () => {
    const body = await rendered(syntheticPresets.office(), undefined, { changes });
    expect(body).toContain(
      '| Severity | All | Certain | Likely | Possible | Exploited | Since Nov 20, 2026 |',
    );
    expect(body).toContain('| High | 11 | 6 | 5 | 0 | 2 | −5 |');
    expect(body).toContain('| **All** | **87** | **45** | **10** | **32** | **10** | **−4** |');
    expect(body).toContain('## Changed since Nov 20, 2026, 14:14 UTC (`20261120-141402-90be17`)');
    expect(body).toContain('3 new, 7 fixed, 84 unchanged, 4 not comparable (excluded this time).');
    expect(body).toContain(
      '- New, high, `CVE-2024-6387` on `192.168.20.14:22`: Signal race &lt;b&gt;, OpenSSH, service appeared since\n',
    );
    expect(body).toContain('And 9 further changes.');
  });
});

const changes: ReportChanges = {
  against: '20261120-141402-90be17',
  at: '2026-11-20T14:14:02Z',
  new: 3,
  fixed: 7,
  unchanged: 84,
  unseen: 0,
  balance: { critical: 0, high: -5, medium: 1, low: 0, info: 0 },
  hostsAdded: 0,
  hostsRemoved: 0,
  items: [
    {
      sign: 'new',
      severity: 'high',
      id: 'CVE-2024-6387',
      title: 'Signal race <b>',
      product: 'OpenSSH',
      host: '192.168.20.14',
      port: 22,
      protocol: 'tcp',
      why: 'service appeared since',
    },
  ],
  itemsLeft: 9,
  notComparable: [{ reason: 'excluded this time', count: 4, example: '192.168.20.8' }],
};
