import type { ComplianceRow } from '../../../domain/result.ts';
import { htmlText, shortenedHtml } from './text.ts';

/** Maximum number of controls in the table; more are counted. */
const maxListedControls = 500;
/** Maximum number of hosts named per control. */
const maxNamedHosts = 50;
/** Maximum length of a title, a reason or a description, characters. */
const shownLength = 300;

interface EvaluatedControl {
  framework: string;
  control: string;
  title: string;
  fail: number;
  pass: number;
  not_assessed: number;
  /** Why it was not assessed on any host. */
  reason: string | null;
  broken: string[];
}

/** Evaluated frameworks: each control with the number of hosts that pass, and those that fail. */
export class ComplianceTable {
  readonly #controls = new Map<string, EvaluatedControl>();
  #left = 0;

  add(row: ComplianceRow): void {
    const { framework, control, title, host, port, status, description } = row;
    const key = `${framework} ${control}`;
    const known = this.#controls.get(key);
    if (!known && this.#controls.size >= maxListedControls) {
      this.#left += 1;
      return;
    }
    const evaluated = known ?? {
      framework,
      control,
      title,
      fail: 0,
      pass: 0,
      not_assessed: 0,
      reason: null,
      broken: [],
    };
    this.#controls.set(key, evaluated);
    if (host === null) evaluated.reason = description;
    else evaluated[status] += 1;
    if (status !== 'fail' || evaluated.broken.length >= maxNamedHosts) return;
    const place = port === null ? host : `${host}, port ${port}`;
    evaluated.broken.push(`${place}: ${shortenedHtml(description, shownLength)}`);
  }

  /** Empty if nothing was evaluated. */
  *section(): Generator<string> {
    if (this.#controls.size === 0) return;
    const more = this.#left > 0 ? ` ${this.#left} entries of further controls are in the JSON format.` : '';
    yield `<section id="compliance" aria-labelledby="compliance-title">
<h2 id="compliance-title">Compliance</h2>
<div class="card scroll"><table><caption>Only what is visible from the network; a control that passes here may fail elsewhere.${more}</caption>
<thead><tr><th scope="col">Control</th><th scope="col">Requirement</th><th scope="col" class="num">Failed</th>
<th scope="col" class="num">Passed</th><th scope="col" class="num">Not assessed</th></tr></thead><tbody>
`;
    for (const evaluated of this.#controls.values()) yield controlLine(evaluated);
    yield '</tbody></table></div>\n</section>\n';
  }
}

function controlLine({ framework, control, title, reason, broken, ...counts }: EvaluatedControl): string {
  const { fail, pass, not_assessed } = counts;
  const named = broken.map((text) => `<li>${htmlText(text)}</li>`).join('');
  const others = fail > broken.length ? `<li>and ${fail - broken.length} more</li>` : '';
  const why = reason === null ? '' : ` <small>${htmlText(shortenedHtml(reason, shownLength))}</small>`;
  return (
    `<tr><th scope="row">${htmlText(framework.toUpperCase())} ${htmlText(control)}</th>` +
    `<td>${htmlText(shortenedHtml(title, shownLength))}${why}${named === '' ? '' : `<ul>${named}${others}</ul>`}</td>` +
    `<td class="num">${fail}</td><td class="num">${pass}</td><td class="num">${not_assessed}</td></tr>\n`
  );
}
