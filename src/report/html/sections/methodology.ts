import type { Methodology, Report } from '../../model/report.ts';
import { numberText, secondsText } from '../../model/report-text.ts';
import { blockHtml, sectionEnd, sectionStart, subheading, tableEnd, tableStart } from '../page.ts';
import { cellText, code, paragraphText } from '../text.ts';

/** How the scan was made: what another scan needs to repeat it. */
export function methodologySection(report: Report): string {
  const { methodology } = report;
  return (
    sectionStart('methodology', 'Methodology', '') +
    settingTable(methodology) +
    moduleTable(methodology) +
    pluginTable(methodology) +
    `${subheading('What this report cannot say', '')}<p class="note lead">${paragraphText(methodology.limits)}</p>\n` +
    blockHtml(report, 'methodology') +
    sectionEnd
  );
}

function settingTable({ settings }: Methodology): string {
  const rows = settings.map(
    ({ label, value, mono }) =>
      `<tr><th scope="row">${cellText(label)}</th><td class="wd">${mono ? `<code>${paragraphText(value)}</code>` : paragraphText(value)}</td></tr>\n`,
  );
  return tableStart(['Setting', 'Value'], 'tw st') + rows.join('') + tableEnd;
}

function moduleTable({ modules }: Methodology): string {
  if (modules.length === 0) return '';
  const rows = modules.map(
    ({ module_type, version, status, items_in, items_out, seconds, error }) =>
      `<tr><td>${code(module_type)}</td><td>${cellText(version ?? '–')}</td><td>${cellText(status)}${error === null ? '' : ` <small>${paragraphText(error)}</small>`}</td>` +
      `<td class="r" data-u="in">${numberText(items_in)}</td><td class="r" data-u="out">${numberText(items_out)}</td><td class="r">${secondsText(seconds)}</td></tr>\n`,
  );
  return (
    subheading('Modules', numberText(modules.length)) +
    tableStart(['Module', 'Version', 'State', 'In|r', 'Out|r', 'Took|r']) +
    rows.join('') +
    tableEnd
  );
}

function pluginTable({ plugins }: Methodology): string {
  if (plugins.length === 0) return '';
  const rows = plugins.map(
    ({ name, version, kind, sha256 }) =>
      `<tr><th scope="row">${cellText(name)}</th><td>${cellText(version)}</td><td>${cellText(kind)}</td><td class="wd">${code(sha256)}</td></tr>\n`,
  );
  return (
    subheading('Plugins', numberText(plugins.length)) +
    tableStart(['Plugin', 'Version', 'Kind', 'SHA-256']) +
    rows.join('') +
    tableEnd
  );
}
