import type { Methodology } from '../../model/report.ts';
import { numberText, pluralText, secondsText, unknownText } from '../../model/report-text.ts';
import { paragraph, partHeading, sideNotice, templateBlock } from '../flow/blocks.ts';
import { columns, Table } from '../flow/table.ts';
import type { ReportPages } from '../report-pages.ts';
import { styles } from '../type/styles.ts';
import { plain, whole } from '../type/text-layout.ts';
import { drawMarks } from './contents.ts';
import { closeSection, isShortReport, openSection, pageNumber, sectionAnchor } from './section.ts';

/** How the scan was made, so that it can be repeated. */
export function* drawMethodology(pages: ReportPages): Generator<void> {
  const { flow, report } = pages;
  const { methodology, options } = report;
  openSection(pages, 'methodology');
  drawSettings(pages, methodology);
  yield;
  drawModules(pages, methodology);
  drawPlugins(pages, methodology);
  yield;
  partHeading(flow, 'What this report cannot say');
  sideNotice(flow, [
    plain(`${methodology.limits} (page `, styles.bodySecond),
    pageNumber(pages, sectionAnchor('coverage'), styles.bodySecond),
    plain(')', styles.bodySecond),
  ]);
  if (methodology.notice !== '') {
    paragraph(flow, [plain(methodology.notice, styles.bodySecond)], { before: 8, after: 8 });
  }
  templateBlock(flow, options.template?.blocks.methodology);
  if (isShortReport(pages)) drawMarks(pages);
  closeSection(pages);
  yield;
}

const settingColumns = columns(
  { width: 120, head: 'Setting', style: styles.cellThird },
  { width: 379, head: 'Value' },
);

function drawSettings({ flow }: ReportPages, { settings }: Methodology): void {
  const table = new Table(flow, settingColumns);
  for (const { label, value, mono } of settings) {
    table.row([label, [plain(value, mono ? styles.mono : styles.cell)]]);
  }
  table.end();
}

const moduleColumns = columns(
  { width: 150, head: 'Module', style: styles.mono },
  { width: 48, head: 'Version' },
  { width: 157, head: 'State', style: styles.cellSecond },
  { width: 44, head: 'In', align: 'right', style: styles.number },
  { width: 44, head: 'Out', align: 'right', style: styles.number },
  { width: 56, head: 'Time', align: 'right', style: styles.number },
);

function drawModules(pages: ReportPages, { modules: all, plugins }: Methodology): void {
  if (all.length === 0) return;
  const { flow } = pages;
  const note = plugins.length === 0 ? ', no plugins' : '';
  partHeading(flow, 'Modules', `${numberText(all.length)}${note}`);
  const isUsual = (module: Methodology['modules'][number]) => module.status === 'completed' && !module.error;
  const usual = isShortReport(pages) ? all.filter(isUsual) : [];
  const names = usual.map(({ module_type, version }) => `${module_type} ${version ?? unknownText}`);
  if (names.length > 0) paragraph(flow, [plain(`Completed: ${names.join(', ')}.`, styles.cellSecond)]);
  const modules = all.filter((module) => !usual.includes(module));
  if (modules.length === 0) return;
  const table = new Table(flow, moduleColumns);
  for (const { module_type, version, status, items_in, items_out, error, seconds } of modules) {
    table.row([
      module_type,
      version ?? unknownText,
      error === null ? status : `${status}: ${error}`,
      numberText(items_in),
      numberText(items_out),
      secondsText(seconds),
    ]);
  }
  table.end();
}

const pluginColumns = columns(
  { width: 104, head: 'Plugin' },
  { width: 56, head: 'Version' },
  { width: 66, head: 'Kind', style: styles.cellSecond },
  { width: 273, head: 'SHA-256' },
);

function drawPlugins({ flow }: ReportPages, { plugins }: Methodology): void {
  if (plugins.length === 0) return;
  partHeading(flow, 'Plugins', pluralText(plugins.length, 'plugin'));
  const table = new Table(flow, pluginColumns);
  for (const { name, version, kind, sha256 } of plugins) {
    table.row([[whole(name, styles.mono)], version, kind, [whole(sha256, styles.monoLabel)]]);
  }
  table.end();
}
