import type { ControlLine, ExtraValue, FrameworkResult, Report } from '../../model/report.ts';
import { endpointText, numberText, pluralText } from '../../model/report-text.ts';
import { sectionEnd, sectionStart, subheading, tableEnd, tableStart } from '../page.ts';
import { cellText, code } from '../text.ts';

/** Evaluated frameworks; nothing if none was. */
export function complianceSection({ compliance }: Report): string {
  if (compliance.length === 0) return '';
  const note =
    'only what is visible from the network; a control that passes here may fail in an audit of the host';
  return sectionStart('compliance', 'Compliance', note) + compliance.map(frameworkPart).join('') + sectionEnd;
}

function frameworkPart({ framework, controls, controlsLeft }: FrameworkResult): string {
  const failed = controls.filter(({ fail }) => fail > 0).length;
  const left = controlsLeft > 0 ? `; ${pluralText(controlsLeft, 'more control')} in the JSON format` : '';
  const note = `${numberText(failed)} of ${pluralText(controls.length, 'control')} fail${left}`;
  return (
    subheading(cellText(framework.toUpperCase()), note) +
    tableStart(['Control', 'Requirement', 'Verdict', 'Failed|r', 'Passed|r', 'Not assessed|r']) +
    controls.map(controlRow).join('') +
    tableEnd
  );
}

function controlRow({ control, title, fail, pass, notAssessed, reason, failed }: ControlLine): string {
  const verdict = fail > 0 ? '<b>fails</b>' : pass > 0 ? 'passes' : '<span class="t3">not assessed</span>';
  const why = reason === null ? '' : ` <small>${cellText(reason)}</small>`;
  return (
    `<tr><th scope="row">${cellText(control)}</th><td class="wd">${cellText(title)}${why}${failedPlaces(fail, failed)}</td><td>${verdict}</td>` +
    `<td class="r" data-u="failed">${numberText(fail)}</td><td class="r" data-u="passed">${numberText(pass)}</td><td class="r" data-u="not assessed">${numberText(notAssessed)}</td></tr>\n`
  );
}

function failedPlaces(fail: number, failed: ControlLine['failed']): string {
  if (failed.length === 0) return '';
  const lines = failed.map(({ host, port, text }) => `${code(endpointText(host, port))} ${cellText(text)}`);
  const left = fail - failed.length;
  if (left > 0) lines.push(`and ${numberText(left)} more`);
  return `<details class="more"><summary>Where it fails</summary>${lines.join('<br>')}</details>`;
}

/** Values under keys of plugins; nothing without any. */
export function extrasSection({ extras, extrasLeft }: Report): string {
  if (extras.length === 0) return '';
  const note = extrasLeft > 0 ? `${numberText(extrasLeft)} more are in the JSON format.` : '';
  return (
    sectionStart('extra', 'Values of plugins', note) +
    tableStart(['Key', 'Where', 'Value', 'Plugin']) +
    extras.map(extraRow).join('') +
    tableEnd +
    sectionEnd
  );
}

function extraRow({ key, where, value, plugins }: ExtraValue): string {
  return `<tr><th scope="row">${cellText(key)}</th><td>${cellText(where)}</td><td class="wd">${code(value)}</td><td class="t2">${cellText(plugins)}</td></tr>\n`;
}
