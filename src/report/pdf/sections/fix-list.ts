import { findingClasses, severities } from '../../../domain/finding.ts';
import type { Action, ClassCounts, FindingPlace } from '../../model/report.ts';
import { numberText } from '../../model/report-text.ts';
import { classCount, emptySlot, exploitedChip, severityCount } from '../figures/marks.ts';
import { lead, templateBlock } from '../flow/blocks.ts';
import { type Cell, type Column, columns, Table } from '../flow/table.ts';
import type { ReportPages } from '../report-pages.ts';
import { type Style, styles } from '../type/styles.ts';
import { gap, joinPieces, type Piece, plain, whole } from '../type/text-layout.ts';
import { entriesOf } from './findings.ts';
import { closeSection, openSection } from './section.ts';

/** Addresses below an action: whole ones, and their last part where they share the rest. */
const shownAddresses = 6;
const shownEndings = 14;
const severitySlot = 27;
const classSlots = { certain: 27, likely: 26, possible: 26 };

/** One row per action: the page that goes to the team. */
export function* drawFixList(pages: ReportPages): Generator<void> {
  const { flow, report } = pages;
  if (report.actions.length === 0) return;
  openSection(pages, 'fixes');
  lead(flow, report.leads.fixes);
  const prefix = sharedPrefix(report.actions);
  const detailed = new Set(entriesOf(report));
  const table = new Table(flow, fixColumns(prefix));
  for (const action of report.actions) {
    const told = action.kinds.some((kind) => detailed.has(kind));
    table.row(fixRow(pages, action, prefix, told), { padding: 5, anchor: action.anchor });
    yield;
  }
  const { summary } = report;
  table.end(
    [
      '',
      'All',
      numberText(summary.hostsWithFindings),
      numberText(summary.findings),
      '',
      classPieces(pages, summary.classes, styles.numberStrong),
    ],
    'Hosts are counted once in the last line. An action stands once even when it removes several findings on one host.',
  );
  templateBlock(flow, report.options.template?.blocks.fixes);
  closeSection(pages);
}

function fixColumns(prefix: string | null): readonly Column[] {
  const head: Piece[] = [plain('Action, reason, hosts', styles.head)];
  if (prefix !== null) head.push(plain(' in ', styles.head), whole(prefix, styles.monoLabel));
  return columns(
    { width: 16, head: '', name: 'Rank', padding: 0 },
    { width: 270, head },
    { width: 32, head: 'Hosts', align: 'right', style: styles.number },
    { width: 42, head: 'Findings', align: 'right', style: styles.number },
    { width: 60, head: 'Severity', padding: 4 },
    { width: 79, head: 'Class' },
  );
}

/** The first three parts of all IPv4 addresses, if they are the same. */
function sharedPrefix(actions: readonly Action[]): string | null {
  let shared: string | null = null;
  for (const { host } of actions.flatMap((action) => action.places)) {
    const prefix = /^(\d+\.\d+\.\d+)\.\d+$/.exec(host)?.[1];
    if (prefix === undefined || (shared !== null && shared !== prefix)) return null;
    shared = prefix;
  }
  return shared;
}

/** @param told whether the findings say what to do; if they have no entry of their own, it stands here */
function fixRow(pages: ReportPages, action: Action, prefix: string | null, told: boolean): Cell[] {
  return [
    [plain(String(action.rank), styles.cellThird)],
    {
      parts: [
        { pieces: [plain(action.text, styles.action)], line: 12.5, maxLines: 2 },
        { pieces: reasonPieces(pages, action), line: 11.5, maxLines: 3 },
        ...(told || action.remediation === ''
          ? []
          : [{ pieces: [plain(action.remediation, styles.reason)], line: 11, maxLines: 4 }]),
        { pieces: hostPieces(action, prefix), line: 11, maxLines: 3 },
      ],
    },
    numberText(action.hosts),
    numberText(action.findings),
    severityPieces(pages, action),
    classPieces(pages, action.classes, styles.number),
  ];
}

/** Only the severities that occur, worst first; more than two take a second line. */
function severityPieces({ flow }: ReportPages, { severities: counts }: Action): Piece[] {
  return severities
    .filter((severity) => counts[severity] > 0)
    .map((severity) => severityCount(flow.faces, severity, counts[severity], severitySlot));
}

function reasonPieces({ flow }: ReportPages, action: Action): Piece[] {
  const reason = plain(action.reason, styles.reason);
  return action.exploited ? [exploitedChip(flow.faces), gap(4), reason] : [reason];
}

function hostPieces({ places, hosts }: Action, prefix: string | null): Piece[] {
  const all = uniqueHosts(places);
  const shown = all.slice(0, prefix === null ? shownAddresses : shownEndings);
  const names = shown.map((host) => (prefix === null ? host : host.slice(prefix.length)));
  const pieces = joinPieces(
    names.map((name) => whole(name, styles.monoHosts)),
    gap(4.5),
  );
  const left = hosts - shown.length;
  return left > 0 ? [...pieces, plain(` and ${numberText(left)} more`, styles.label)] : pieces;
}

function uniqueHosts(places: readonly FindingPlace[]): string[] {
  return [...new Set(places.map(({ host }) => host))];
}

/** A place for each class, so that equal classes stand below each other. */
function classPieces({ flow }: ReportPages, classes: ClassCounts, style: Style): Piece[] {
  return findingClasses.map((name) =>
    classes[name] === 0
      ? emptySlot(classSlots[name])
      : classCount(flow.faces, name, classes[name], classSlots[name], style),
  );
}
