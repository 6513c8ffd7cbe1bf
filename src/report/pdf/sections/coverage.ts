import type { Coverage, Methodology, PortSums, ServiceTotals } from '../../model/report.ts';
import { endpointText, numberText, pluralText } from '../../model/report-text.ts';
import { addressBar } from '../figures/address-bar.ts';
import { stateMark } from '../figures/marks.ts';
import { banner, footnote, lead, partHeading, sideNotice } from '../flow/blocks.ts';
import { columns, Table } from '../flow/table.ts';
import type { ReportPages } from '../report-pages.ts';
import { styles } from '../type/styles.ts';
import { joinPieces, type Piece, plain, whole } from '../type/text-layout.ts';
import { closeSection, openSection } from './section.ts';

/** What was looked at, and what was not: it limits the verdict. */
export function* drawCoverage(pages: ReportPages): Generator<void> {
  const { flow, report } = pages;
  openSection(pages, 'coverage');
  if (report.partial !== null) {
    banner(flow, [stateMark(report.facts.status), plain(report.partial, styles.body)]);
  }
  lead(flow, report.coverage.text);
  drawAddresses(pages);
  drawPorts(pages);
  yield;
  drawNotes(pages, 'Warnings and limits', {
    notes: report.coverage.warnings,
    left: report.coverage.warningsLeft,
    one: 'warning',
  });
  yield;
  drawNotes(pages, 'Errors', {
    notes: report.coverage.errors,
    left: report.coverage.errorsLeft,
    one: 'error',
  });
  yield;
  drawModules(pages);
  drawUnfinished(pages);
  closeSection(pages);
  yield;
}

const addressColumns = columns(
  { width: 162, head: 'Addresses' },
  { width: 60, head: 'Count', align: 'right', style: styles.number },
  { width: 277, head: 'Meaning', style: styles.cellSecond },
);

function drawAddresses({ flow, report }: ReportPages): void {
  const { addresses } = report.coverage;
  partHeading(flow, 'Addresses', `${numberText(addresses.requested)} asked for`);
  if (addresses.requested > 0) flow.keep(addressBar(flow, addresses));
  const table = new Table(flow, addressColumns);
  table.row(['Answered', numberText(addresses.responded), 'The hosts of this report']);
  const silent = 'No reply to any probe: nothing is known about them';
  table.row(['Did not answer', numberText(addresses.silent), addresses.silent > 0 ? silent : '']);
  const excluded = addresses.excluded > 0 ? 'No packet was sent to them' : '';
  table.row(['Excluded', numberText(addresses.excluded), excluded]);
  table.end(['Asked for', numberText(addresses.requested), '']);
}

const portColumns = columns(
  { width: 152, head: 'State' },
  { width: 70, head: 'TCP', align: 'right', style: styles.number },
  { width: 70, head: 'UDP', align: 'right', style: styles.number },
  { width: 70, head: 'All', align: 'right', style: styles.number },
  { width: 137, head: 'Meaning', style: styles.cellSecond },
);

function drawPorts({ flow, report }: ReportPages): void {
  const { coverage, services } = report;
  const { ports } = coverage;
  if (ports !== null) {
    partHeading(flow, 'Ports', `${pluralText(ports.all.planned, 'pair')} of host and port`);
    const table = new Table(flow, portColumns);
    for (const { state, name, meaning } of portStates) {
      const text = meaning(ports.all);
      const isCut = state === 'notTried' && ports.all.notTried > 0;
      const style = isCut ? styles.numberStrong : styles.number;
      table.row([
        [plain(name, isCut ? styles.cellStrong : styles.cell)],
        ...[ports.tcp, ports.udp, ports.all].map((sums) => [plain(numberText(sums[state]), style)]),
        text,
      ]);
    }
    table.end([
      'Planned',
      ...[ports.tcp, ports.udp, ports.all].map(({ planned }) => numberText(planned)),
      '',
    ]);
  }
  footnote(flow, recognizedText(services));
  drawAllPortsOpen(flow, coverage);
}

function recognizedText({ openPorts, unrecognized }: ServiceTotals): string {
  if (openPorts === 0) return 'No port was found open.';
  const all = pluralText(openPorts, 'open port');
  if (unrecognized === 0) return `${all}, all recognized.`;
  const rest = numberText(openPorts - unrecognized);
  return `Of ${all} ${rest} were recognized; nothing is said about the other ${numberText(unrecognized)}.`;
}

const portStates: readonly {
  state: Exclude<keyof PortSums, 'planned'>;
  name: string;
  meaning: (sums: PortSums) => string;
}[] = [
  { state: 'open', name: 'Open', meaning: () => 'answered' },
  { state: 'closed', name: 'Closed', meaning: () => 'refused' },
  { state: 'filtered', name: 'Filtered or no answer', meaning: () => 'a firewall, or lost' },
  {
    state: 'notTried',
    name: 'Not tried',
    meaning: ({ notTried }) => (notTried > 0 ? 'nothing is known' : ''),
  },
];

/** Hosts that are named for accepting every connection. */
const maxTarpits = 12;

function drawAllPortsOpen(flow: ReportPages['flow'], { allPortsOpen }: Coverage): void {
  if (allPortsOpen.length === 0) return;
  const named = allPortsOpen.slice(0, maxTarpits);
  const more = allPortsOpen.length - named.length;
  const hosts = joinPieces(
    named.map((host) => whole(host, styles.mono)),
    plain(', ', styles.bodySecond),
  );
  const verb = allPortsOpen.length === 1 ? 'accepts' : 'accept';
  const rest = more > 0 ? ` and ${numberText(more)} more` : '';
  sideNotice(flow, [
    ...hosts,
    plain(
      `${rest} ${verb} connections on nearly every port. Something answers for ports that nothing listens on, so open ports there say little.`,
      styles.bodySecond,
    ),
  ]);
}

const noteColumns = columns(
  { width: 104, head: 'Code' },
  { width: 116, head: 'Where', maxLines: 4 },
  { width: 279, head: 'What it means for this report', maxLines: 6 },
);

interface NoteList {
  notes: Coverage['warnings'];
  left: number;
  one: string;
}

/** Warnings, and errors, that paper shows. */
const maxNotes = 60;

function drawNotes({ flow }: ReportPages, title: string, { notes, left: unread, one }: NoteList): void {
  if (notes.length === 0) return;
  const all = notes.length + unread;
  const left = Math.max(unread, all - maxNotes);
  partHeading(flow, title, pluralText(all, one));
  const table = new Table(flow, noteColumns);
  for (const { code, where, message } of notes.slice(0, maxNotes)) {
    table.row([[whole(code, styles.monoSmall)], [plain(where, styles.monoSmall)], message]);
  }
  table.end();
  if (left > 0) footnote(flow, `${pluralText(left, `more ${one}`)}: all stand in the JSON format.`);
}

const moduleColumns = columns(
  { width: 140, head: 'Module', style: styles.mono },
  { width: 70, head: 'State' },
  { width: 56, head: 'In', align: 'right', style: styles.number },
  { width: 56, head: 'Out', align: 'right', style: styles.number },
  { width: 177, head: 'Why', style: styles.cellSecond },
);

/** A skipped one had no part in the scan, or follows from another one that failed. */
function isUnfinished({ status }: Methodology['modules'][number]): boolean {
  return status !== 'completed' && status !== 'skipped';
}

function drawModules({ flow, report }: ReportPages): void {
  const modules = report.methodology.modules.filter(isUnfinished);
  if (modules.length === 0) return;
  const all = report.methodology.modules.length;
  partHeading(
    flow,
    'Modules that did not reach their end',
    `${numberText(modules.length)} of ${numberText(all)}`,
  );
  const table = new Table(flow, moduleColumns);
  for (const { module_type, status, items_in, items_out, error } of modules) {
    const state = status === 'pending' ? 'not begun' : status;
    table.row([module_type, state, numberText(items_in), numberText(items_out), error ?? '']);
  }
  table.end();
}

const unfinishedColumns = columns(
  { width: 78, head: 'Stage', style: styles.cellSecond },
  { width: 170, head: 'What is missing', maxLines: 6 },
  { width: 44, head: 'Services', align: 'right', style: styles.number },
  { width: 207, head: 'Where' },
);

/** Services that are named where the same is missing. */
const maxPlaces = 16;

/** Equal gaps stand once, with the services that have them. */
function drawUnfinished({ flow, report }: ReportPages): void {
  const { unfinished, unfinishedLeft } = report.coverage;
  if (unfinished.length === 0) return;
  const all = unfinished.length + unfinishedLeft;
  const note = `${numberText(all)} of ${pluralText(report.services.openPorts, 'service')}`;
  partHeading(flow, 'Services that were not read to their end', note);
  const table = new Table(flow, unfinishedColumns);
  for (const group of groupsOf(unfinished)) {
    const { stage, missing, places } = group;
    table.row([stage, missing, numberText(places.length), placePieces(places)]);
  }
  table.end();
  if (unfinishedLeft > 0) {
    footnote(flow, `${pluralText(unfinishedLeft, 'more service')}: all stand in the JSON format.`);
  }
}

interface UnfinishedGroup {
  stage: string;
  missing: string;
  places: string[];
}

function groupsOf(unfinished: Coverage['unfinished']): UnfinishedGroup[] {
  const groups = new Map<string, UnfinishedGroup>();
  for (const { host, port, protocol, stage, missing } of unfinished) {
    const key = JSON.stringify([stage, missing]);
    const group = groups.get(key) ?? { stage, missing, places: [] };
    group.places.push(`${endpointText(host, port)}/${protocol}`);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function placePieces(places: readonly string[]): Piece[] {
  const left = places.length - maxPlaces;
  const names = places.slice(0, maxPlaces).map((place) => whole(place, styles.monoSmall));
  const shown = joinPieces(names, plain(', ', styles.monoSmall));
  return left > 0 ? [...shown, plain(` and ${numberText(left)} more`, styles.cellSecond)] : shown;
}
