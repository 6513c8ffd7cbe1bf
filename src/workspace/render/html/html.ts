import { type Severity, severities } from '../../../domain/finding.ts';
import type { ResultRow } from '../../../domain/result.ts';
import { generator } from '../generator.ts';
import { inPieces } from '../pieces.ts';
import type { ReportHead } from '../report-head.ts';
import { detailSections } from './detail-sections.ts';
import { countText, durationText } from './numbers.ts';
import { Overview } from './overview.ts';
import { reportStyle } from './style.ts';
import { htmlText, shortenedHtml } from './text.ts';

/** Maximum number of targets named; more are counted. */
const maxNamedTargets = 20;

/** Content security policy of the page. Also sent as a header over HTTP. */
export const reportPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/**
 * One self-contained page without scripts: a summary, the worst findings, the hosts, then each host with its ports,
 * services and findings. `rows` is read twice, each time in the order of mergedRows: first for the tables at the
 * front, which are limited, then for the details, which are not; one of those rows is in memory at a time.
 */
export async function* renderHtml(
  head: ReportHead,
  rows: () => AsyncIterable<ResultRow>,
): AsyncGenerator<string> {
  yield* inPieces(page(head, rows));
}

async function* page(head: ReportHead, rows: () => AsyncIterable<ResultRow>): AsyncGenerator<string> {
  yield pageStart(head) + summarySection(head);
  // Opened before the first pass ends: a scan deleted meanwhile is still read to its end.
  const details = await begin(rows());
  try {
    const overview = new Overview();
    for await (const row of rows()) overview.add(row);
    yield* overview.sections(head.evaluated ?? true);
    yield* detailSections(head, details);
  } finally {
    await details.return?.();
  }
  yield pageEnd(head);
}

/** The same rows, with the first one prefetched. */
async function begin(rows: AsyncIterable<ResultRow>): Promise<AsyncIterableIterator<ResultRow>> {
  const iterator = rows[Symbol.asyncIterator]();
  let first: IteratorResult<ResultRow> | null = await iterator.next();
  const begun: AsyncIterableIterator<ResultRow> = {
    [Symbol.asyncIterator]: () => begun,
    next: async () => {
      const ready = first;
      first = null;
      return ready ?? (await iterator.next());
    },
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  };
  return begun;
}

function pageStart(head: ReportHead): string {
  const title = head.title || `Scan ${head.scan_id}`;
  const { summary } = head;
  const facts: [string, string][] = [
    ['Scan', head.scan_id],
    ['Status', head.partial ? `${head.status}, partial` : head.status],
    ['As of', head.timestamp.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')],
    ['Duration', durationText(summary.duration_seconds)],
    ['Addresses scanned', countText(summary.addresses_scanned)],
    ['Addresses excluded', countText(summary.excluded)],
    ['Catalogue', summary.catalogue_version],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${htmlText(reportPolicy)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="${htmlText(`${generator.name} ${generator.version}`)}">
<title>${htmlText(shortenedHtml(title, 200))}</title>
<style>${reportStyle}</style>
</head>
<body>
<div class="wrap">
<header>
<p class="kicker">Network scan report</p>
<h1>${htmlText(shortenedHtml(title, 200))}</h1>
<p class="soft">${htmlText(targetsText(head.targets))}</p>
<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${htmlText(value)}</dd></div>`).join('')}</dl>
<nav aria-label="Parts of the report"><ul><li><a href="#summary">Summary</a></li><li><a href="#findings">Findings</a></li>
<li><a href="#hosts">Hosts</a></li><li><a href="#notes">Errors and warnings</a></li><li><a href="#details">Details</a></li></ul></nav>
</header>
<main>
`;
}

function targetsText(targets: string[]): string {
  const more = targets.length - maxNamedTargets;
  const named = targets.slice(0, maxNamedTargets).join(', ');
  return more > 0 ? `${named} and ${countText(more)} more` : named;
}

function pageEnd({ scan_id, summary }: ReportHead): string {
  return `</main>
<footer><p>Made by ${htmlText(`${generator.name} ${generator.version}`)} from scan ${htmlText(scan_id)}. Text of scanned
machines is shown as text; characters that cannot be seen appear as <code>\\xNN</code> or <code>\\u{…}</code>.</p>${dataNotice(summary.catalogue_version)}</footer>
</div>
</body>
</html>
`;
}

/** Wording required by NVD where its data is shown, and credit for FIRST. */
function dataNotice(catalogue: string): string {
  if (!catalogue.includes('+vulndb@')) return '';
  return `
<p>This product uses data from the NVD API but is not endorsed or certified by the NVD. EPSS scores come from FIRST.</p>`;
}

function summarySection(head: ReportHead): string {
  const { live_hosts, open_ports, vulnerabilities, severity_counts } = head.summary;
  const evaluated = (head.evaluated ?? true) || vulnerabilities > 0;
  const tiles: [string, string][] = [
    ['Hosts up', countText(live_hosts)],
    ['Open ports', countText(open_ports)],
    evaluated ? ['Findings', countText(vulnerabilities)] : ['Findings: not looked for', '–'],
  ];
  return `<section id="summary" aria-labelledby="summary-title">
<h2 id="summary-title">Summary</h2>
${partialNotice(head)}<div class="tiles">${tiles.map(([name, count]) => `<div class="card tile"><b>${count}</b>${name}</div>`).join('')}</div>
${evaluated ? `<div class="card">${severityBar(severity_counts)}</div>\n` : ''}</section>
`;
}

function partialNotice({ partial, status, failure, warnings }: ReportHead): string {
  const lines: string[] = [];
  if (warnings.some(({ code }) => code === 'record_damaged')) {
    lines.push('<strong>Recorded results are lost.</strong> What is missing here is not known to be absent.');
  } else if (partial && (status === 'completed' || status === 'failed')) {
    lines.push(
      '<strong>This scan did not reach its end.</strong> What is missing here is not known to be absent.',
    );
  } else if (partial) {
    lines.push('<strong>This scan is not finished.</strong> The report shows what it has found so far.');
  }
  if (failure) lines.push(`It failed: ${htmlText(failure)}.`);
  if (warnings.length > 0)
    lines.push(
      `<a href="#notes">${countText(warnings.length)} ${warnings.length === 1 ? 'warning' : 'warnings'}</a>`,
    );
  return lines.length === 0 ? '' : `<p class="card notice" role="note">${lines.join(' ')}</p>\n`;
}

/** Width of the bar in drawing units. */
const barWidth = 1000;

function severityBar(counts: Record<Severity, number>): string {
  const total = severities.reduce((sum, severity) => sum + counts[severity], 0);
  const found = severities.filter((severity) => counts[severity] > 0);
  let left = 0;
  const parts = found.map((severity) => {
    const width = (counts[severity] / total) * barWidth;
    const part = `<rect class="fill-${severity}" x="${left.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="14"/>`;
    left += width;
    return part;
  });
  const legend = severities.map(
    (severity) =>
      `<li><span class="dot fill-${severity}"></span>${severity} <b>${countText(counts[severity])}</b></li>`,
  );
  const drawing =
    total === 0
      ? ''
      : `<svg class="bar" viewBox="0 0 ${barWidth} 14" preserveAspectRatio="none" aria-hidden="true">${parts.join('')}</svg>`;
  return `${drawing}<ul class="legend" aria-label="Findings by severity">${legend.join('')}</ul>`;
}
