import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenScope } from '../../actions/access/verify-token.ts';
import type { RecordReader } from '../../actions/scans/record-reader.ts';
import type { EventRun } from '../../actions/scans/watch-scan.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { StreamEvent, StreamRun } from './event-text.ts';
import { mergedEvents } from './merge-events.ts';
import { permitted, type ServiceFeed } from './service-feed.ts';
import { type FollowedScan, positionAround, positionText, type StreamPosition } from './stream-position.ts';

/** Retry interval while the server that has a record is away, milliseconds. */
const retryMs = 2000;

export interface ServiceReader {
  /** Joined until the stream ends. */
  feed: ServiceFeed;
  /** Of the last received event; null for a new reader. */
  position: StreamPosition | null;
  scans: readonly FollowedScan[];
  records: Pick<RecordReader, 'follow'>;
  /** Whether the token has a scope. */
  holds: (scope: TokenScope) => boolean;
  /** Data of the first event. */
  hello: object;
  /** Aborted when the reader leaves. */
  gone: AbortSignal;
  /** Aborted when the server closes: the last events of the service are still sent. */
  closing: AbortSignal;
}

/** An event of the service and how far the reader is with it. */
interface ServiceStep {
  event: string;
  data: string;
  sequence?: number;
}

/** Events of a scan. */
interface RecordStep {
  scanId: string;
  run: EventRun;
}

/** Events of the service and of the followed scans, from the position of the reader on, until it leaves. */
export async function* followService(reader: ServiceReader): AsyncGenerator<StreamEvent | StreamRun> {
  const { feed, position, scans, hello, gone } = reader;
  const { epoch, last } = feed.ring;
  const isHere = position?.epoch === epoch && feed.ring.after(position.sequence) !== null;
  const sequence = isHere ? position.sequence : last;
  const rows = new Map(scans.flatMap(({ scanId, from }) => (from === 'end' ? [] : [[scanId, from]])));
  const place: StreamPosition = { epoch, sequence, rows };
  yield { event: 'hello', data: JSON.stringify({ ...hello, epoch }), id: positionText(place) };
  if (position !== null && !isHere) yield resetOf('position_lost');
  const stop = new AbortController();
  if (gone.aborted) return;
  gone.addEventListener('abort', () => stop.abort(), { signal: stop.signal });
  const sources = [
    serviceEvents(reader, sequence, stop),
    ...scans.map((scan) => recordEvents(scan, reader.records, stop.signal)),
  ];
  for await (const step of mergedEvents<ServiceStep | RecordStep>(sources, stop)) {
    yield 'run' in step ? recordPart(step, place) : servicePart(step, place);
  }
}

/** Moves the place behind the event. */
function servicePart({ event, data, sequence }: ServiceStep, place: StreamPosition): StreamEvent {
  if (sequence !== undefined) place.sequence = sequence;
  return { event, data, id: sequence === undefined ? null : positionText(place) };
}

/** Moves the place behind the events. */
function recordPart({ scanId, run }: RecordStep, place: StreamPosition): StreamRun {
  const row = run.findLast(({ id }) => id !== undefined)?.id;
  if (row !== undefined) place.rows.set(scanId, row);
  return { run, frame: { scanId, ...positionAround(place, scanId) } };
}

function resetOf(reason: string): StreamEvent {
  return { event: 'reset', data: JSON.stringify({ reason }), id: null };
}

/** Ends the whole stream with it. */
async function* serviceEvents(
  { feed, holds, closing }: ServiceReader,
  from: number,
  stop: AbortController,
): AsyncGenerator<ServiceStep> {
  let sequence = from;
  let version = 0;
  const signal = AbortSignal.any([stop.signal, closing]);
  try {
    while (!stop.signal.aborted) {
      const isLast = closing.aborted;
      const seen = feed.changes;
      const events = feed.ring.after(sequence);
      // Before anything is sent: events that come meanwhile are read next.
      sequence = feed.ring.last;
      if (events === null) yield { ...resetOf('too_slow'), sequence };
      for (const event of permitted(events ?? [], holds)) yield event;
      const latest = feed.latestAfter(version);
      if (isLast) return;
      if (latest) {
        version = latest.version;
        yield { event: latest.event, data: latest.data };
      } else await feed.changed(seen, signal);
    }
  } finally {
    stop.abort();
  }
}

/** Events of a scan, also over an outage of the server that has its record. */
async function* recordEvents(
  { scanId, from }: FollowedScan,
  records: Pick<RecordReader, 'follow'>,
  signal: AbortSignal,
): AsyncGenerator<ServiceStep | RecordStep> {
  let reached = from;
  while (!signal.aborted) {
    try {
      const followed = await records.follow(scanId, reached, signal);
      try {
        for await (const run of followed.events) {
          reached = run.findLast(({ id }) => id !== undefined)?.id ?? reached;
          yield { scanId, run };
        }
      } finally {
        followed.close();
      }
      // It has ended, or was deleted, which the service reports.
      return;
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof PortolanError ? error.code : null;
      if (code === 'not_found') {
        yield { event: 'scan_deleted', data: JSON.stringify({ scan_id: scanId }) };
        return;
      }
      if (code !== 'unavailable') throw error;
    }
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
  }
}
