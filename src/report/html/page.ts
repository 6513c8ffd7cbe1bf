import { generator } from '../../workspace/render/generator.ts';
import type { Report } from '../model/report.ts';
import { dateTimeText, numberText, timeSpanText } from '../model/report-text.ts';
import type { ReportTemplate, TemplateBlock } from '../template/report-template.ts';
import { accentOnDark } from './accent.ts';
import { logoHtml } from './logo.ts';
import { pagePolicy } from './policy.ts';
import { pageStyle } from './style.ts';
import { cellText, code, htmlLines, htmlText } from './text.ts';

/** Maximum number of targets named in the head; more are counted. */
const maxNamedTargets = 20;

/** One entry of the contents. */
export interface ContentsEntry {
  id: string;
  name: string;
  count: number | null;
}

/** Everything before the sections: head, contents, title, where and when. */
export function pageStart(report: Report, contents: readonly ContentsEntry[]): string {
  const { template } = report.options;
  const title = cellText(report.title);
  const light = template?.accent ?? null;
  const accent = light === null ? null : { light, dark: accentOnDark(light) };
  return `<!doctype html>
<html lang="en-US">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${htmlText(pagePolicy(template))}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="${htmlText(`${generator.name} ${generator.version}`)}">
<title>${title}</title>
<style>${pageStyle(accent)}</style>
</head>
<body>
${hatchings}<div class="lay">
<nav class="toc" aria-label="Contents"><p>${compass}Portolan</p>${contentsList(contents)}</nav>
<details class="fold"><summary><b>${title}</b><span>Contents</span></summary><nav aria-label="Contents">${contentsList(contents)}</nav></details>
<main>
${topLine(template)}<h1>${title}</h1>
<p class="sub">${subtitle(report)}</p>
`;
}

function contentsList(contents: readonly ContentsEntry[]): string {
  return contents
    .map(({ id, name, count }) => {
      const number = count === null ? '' : ` <span>${numberText(count)}</span>`;
      return `<a href="#${id}">${name}${number}</a>`;
    })
    .join('');
}

function topLine(template: ReportTemplate | null): string {
  const logo = template?.logo ? logoHtml(template.logo) : '';
  const mark = template?.mark ? `<span class="mk">${cellText(template.mark)}</span>` : '';
  return logo === '' && mark === '' ? '' : `<div class="top">${logo}${mark}</div>\n`;
}

function subtitle({ facts }: Report): string {
  const more = facts.targets.length - maxNamedTargets;
  const named = facts.targets.slice(0, maxNamedTargets).map(code).join(', ');
  const targets = more > 0 ? `${named} and ${numberText(more)} more` : named;
  const { startedAt, completedAt } = facts;
  const time =
    startedAt !== null && completedAt !== null
      ? timeSpanText(startedAt, completedAt)
      : dateTimeText(facts.timestamp);
  return [targets, time, code(facts.scan_id)].filter((part) => part !== '').join(' · ');
}

/** A paragraph of the operator at the end of a section; empty without one. */
export function blockHtml(report: Report, block: TemplateBlock): string {
  const text = report.options.template?.blocks[block];
  return text ? `<p class="txt">${htmlLines(text)}</p>\n` : '';
}

/** A section with its heading and what stands beside it. */
export function sectionStart(id: string, name: string, note: string): string {
  const beside = note === '' ? '' : `<span>${note}</span>`;
  return `<section id="${id}" aria-labelledby="${id}-title">
<div class="sh"><h2 id="${id}-title">${name}</h2>${beside}</div>
`;
}

/** A heading within a section and what stands beside it. */
export function subheading(name: string, note: string): string {
  return `<div class="sh g"><h3>${name}</h3>${note === '' ? '' : `<span>${note}</span>`}</div>\n`;
}

/** Head of a table; numbers stand right, the class of a column follows a bar: `Hosts|r`. */
export function tableStart(columns: readonly string[], kind = 'tw'): string {
  const heads = columns.map((column) => {
    const [name, mark] = column.split('|');
    const look = mark ? ` class="${mark}"` : '';
    return name === '' ? `<td${look}></td>` : `<th scope="col"${look}>${name}</th>`;
  });
  return `<table class="${kind}"><thead><tr>${heads.join('')}</tr></thead><tbody>\n`;
}

export const tableEnd = '</tbody></table>\n';
export const sectionEnd = '</section>\n';

/** What closes the page. */
export function pageEnd(report: Report): string {
  const { notice: wording } = report.methodology;
  const notice = wording === '' ? '' : `\n<p>${htmlText(wording)}</p>`;
  return `</main>
</div>
<footer>${blockHtml(report, 'footer')}<p>Made by ${htmlText(`${generator.name} ${generator.version}`)} on ${dateTimeText(report.options.madeAt)}
from scan ${code(report.facts.scan_id)}. Text of scanned machines is shown as text; characters that cannot be seen appear as <code>\\xNN</code> or <code>\\u{…}</code>.</p>${notice}</footer>
</body>
</html>
`;
}

const compass =
  '<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" aria-hidden="true">' +
  '<circle cx="8" cy="8" r="5.75"/><path d="M10.5 5.5L9 9l-3.5 1.5L7 7z"/></svg>';

/** Hatching of bars, one pattern per color. */
const hatchings = `<svg class="defs" aria-hidden="true"><defs>${['c', 'h', 'm', 'l', 'i', 'n']
  .map(
    (mark) =>
      `<pattern id="hatch-${mark}" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="f-${mark}" d="M0 0h1.6v4H0z"/></pattern>`,
  )
  .join('')}</defs></svg>
`;
