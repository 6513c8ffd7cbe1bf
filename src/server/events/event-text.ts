import type { EventRun, ScanEvent } from '../../actions/scans/watch-scan.ts';

/** An event of a stream; `data` is JSON text on one line. */
export interface StreamEvent {
  event: string;
  data: string;
  /** Place to resume after; null = that of the last event with one. */
  id: string | null;
}

/** What the events of a scan have around them in a stream. */
export interface RunFrame {
  /** Named in `data`; null where the whole stream is about one scan. */
  scanId: string | null;
  /** Text before and behind the row in an id. */
  before: string;
  behind: string;
}

/** The frame in a stream of one scan. */
export const plainFrame: RunFrame = { scanId: null, before: '', behind: '' };

/** Events of a scan in a stream. */
export interface StreamRun {
  run: EventRun;
  frame: RunFrame;
}

/** Text of an event as sent. */
export function eventText({ event, id, data }: StreamEvent): string {
  const place = id === null ? '' : `id: ${id}\n`;
  return `event: ${event}\n${place}data: ${data}\n\n`;
}

/** The last text of each run: readers of the same place share one. */
const texts = new WeakMap<EventRun, { frame: RunFrame; bytes: Buffer }>();

/** Text of the events of a scan as sent, made once for all streams with the same frame. */
export function runText({ run, frame }: StreamRun): Buffer {
  const known = texts.get(run);
  if (known && isSame(known.frame, frame)) return known.bytes;
  const bytes = Buffer.from(run.map((event) => eventText(framed(event, frame))).join(''));
  texts.set(run, { frame, bytes });
  return bytes;
}

/** The events of a scan as a stream has them. */
export function runEvents({ run, frame }: StreamRun): StreamEvent[] {
  return run.map((event) => framed(event, frame));
}

function isSame(one: RunFrame, other: RunFrame): boolean {
  return one.before === other.before && one.behind === other.behind && one.scanId === other.scanId;
}

function framed({ event, id, data }: ScanEvent, { scanId, before, behind }: RunFrame): StreamEvent {
  const isNamed = scanId === null || data.startsWith('{"scan_id":');
  return {
    event,
    data: isNamed ? data : `{"scan_id":${JSON.stringify(scanId)},${data.slice(1)}`,
    id: id === undefined ? null : `${before}${id}${behind}`,
  };
}
