import { amountText } from '../../terminal/draw/amounts.ts';
import { columnsOf, fit, pad, printable } from '../../terminal/draw/printable.ts';
import { ellipsisOf, paint, type TerminalStyle } from '../../terminal/draw/style.ts';
import { spanText } from '../../terminal/draw/times.ts';
import type { OpenPort, StageWork, StatusFacts } from './scan-status.ts';

const gap = '  ';
const barColumns = 24;
/** From this width on there are bars, outcomes and reasons, columns. */
const wideColumns = 99;
/** Below it everything stands in one line, columns. */
const narrowColumns = 59;
const nameColumns = 'discovery'.length;
/** Share of the window that open ports take. */
const portShare = 1 / 3;

/** The block below a running scan: the newest open ports, a line for each stage that runs, then the totals. */
export function statusLines(
  facts: StatusFacts,
  { columns, rows }: { columns: number; rows: number },
  style: TerminalStyle,
  showsPorts: boolean,
): string[] {
  const cut = (line: string) => fit(line, columns, ellipsisOf(style));
  if (columns < narrowColumns) return [cut(statusLine(facts, columns < 39))];
  const isWide = columns >= wideColumns;
  const count = showsPorts ? Math.min(facts.newest.length, Math.floor(rows * portShare)) : 0;
  const ports = facts.newest.slice(facts.newest.length - count);
  const width = Math.max(0, ...ports.map(({ endpoint }) => columnsOf(endpoint)));
  return [
    ...ports.map((port) => paint(style, cut(portLine(port, width, isWide)), 'dim')),
    ...stageLines(facts, isWide, style).map(({ name, rest }) =>
      paintName(cut(pad(name, nameColumns) + gap + rest), name, style),
    ),
    cut(totalsLine(facts)),
  ];
}

function paintName(line: string, name: string, style: TerminalStyle): string {
  return paint(style, line.slice(0, name.length), 'bold') + line.slice(name.length);
}

/** `127.0.7.10:443    https  syn-ack, 0.6 ms` */
function portLine({ endpoint, name, reason, latencyMs }: OpenPort, width: number, isWide: boolean): string {
  const latency =
    latencyMs === null ? '' : `${latencyMs < 10 ? latencyMs.toFixed(1) : Math.round(latencyMs)} ms`;
  const how = isWide ? [reason, latency].filter(Boolean).join(', ') : '';
  return printable([pad(endpoint, width), name, how].filter(Boolean).join(gap).trimEnd());
}

interface StageLine {
  name: string;
  rest: string;
}

function stageLines(facts: StatusFacts, isWide: boolean, style: TerminalStyle): StageLine[] {
  if (facts.finishing !== null) return [{ name: 'finishing', rest: printable(facts.finishing) }];
  const { discovery, ports, services, hosts, open } = facts;
  const lines: StageLine[] = [];
  const add = (name: string, work: StageWork, what: string, result: string) => {
    const share = work.isWhole ? shareText(work) : '';
    const bar = isWide && work.isWhole ? barOf(work, style) : '';
    lines.push({ name, rest: [what, share, bar, result].filter(Boolean).join(gap) });
  };
  if (discovery) add('discovery', discovery, `${ofText(discovery)} addresses`, `${amountText(hosts)} up`);
  if (ports) {
    const where = hosts > 1 ? ` on ${amountText(hosts)} hosts` : '';
    add('ports', ports, `${ofText(ports)} tried${where}`, outcomesText(facts, isWide));
  }
  if (services) {
    const identified = `${amountText(facts.identified)} identified`;
    add(
      'services',
      services,
      `${ofText({ ...services, total: Math.max(open, services.total) })} tried`,
      identified,
    );
  }
  return lines;
}

/** `8 open`, with room `8 open, 602 closed, 0 filtered` */
function outcomesText({ open, outcomes }: StatusFacts, isWide: boolean): string {
  const text = `${amountText(open)} open`;
  if (!isWide || outcomes === null) return text;
  return `${text}, ${amountText(outcomes.closed)} closed, ${amountText(outcomes.filtered)} filtered`;
}

function ofText({ done, total }: StageWork): string {
  return `${amountText(done)} of ${amountText(total)}`;
}

function shareText({ done, total }: StageWork): string {
  return `${Math.floor((Math.min(done, total) / total) * 100)} %`;
}

function barOf({ done, total }: StageWork, style: TerminalStyle): string {
  const filled = Math.floor((Math.min(done, total) / total) * barColumns);
  const [full, empty] = style.ascii ? ['#', '.'] : ['━', '─'];
  return (full ?? '').repeat(filled) + (empty ?? '').repeat(barColumns - filled);
}

/** `990 packets/s, limit 1,000  1 s  about 3 s left: the slowest service` */
function totalsLine({ rate, rateLimit, elapsedMs, estimate }: StatusFacts): string {
  const limit = rateLimit > 0 ? `, limit ${amountText(rateLimit)}` : '';
  const parts = [`${amountText(Math.round(rate))} packets/s${limit}`, elapsedText(elapsedMs), estimate];
  return parts.filter(Boolean).join(gap);
}

/** Whole seconds: tenths would only flicker. */
function elapsedText(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1000)} s` : spanText(ms);
}

/** All of it in one line: `61 % of 1,000 ports  8 open  990/s  about 3 s left`. @param isShort the least of it */
export function statusLine(facts: StatusFacts, isShort = false): string {
  const { discovery, ports, services, hosts, open, rate, estimate, finishing } = facts;
  const [work, noun] = discovery
    ? [discovery, 'addresses']
    : ports
      ? [ports, 'ports']
      : [services, 'services'];
  const found = discovery && open === 0 ? `${amountText(hosts)} up` : `${amountText(open)} open`;
  const share = work?.isWhole && finishing === null ? shareText(work) : '';
  if (isShort) return [share, found].filter(Boolean).join(gap);
  const head = finishing === null ? workText(work, share, noun) : `finishing: ${printable(finishing)}`;
  const [left] = estimate.split(':');
  return [head, found, `${amountText(Math.round(rate))}/s`, left].filter(Boolean).join(gap);
}

function workText(work: StageWork | null, share: string, noun: string): string {
  if (work === null) return '';
  return share === ''
    ? `${amountText(work.done)} ${noun} tried`
    : `${share} of ${amountText(work.total)} ${noun}`;
}
