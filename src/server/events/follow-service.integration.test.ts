import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RecordReader } from '../../actions/scans/record-reader.ts';
import type { EventRun } from '../../actions/scans/watch-scan.ts';
import { PortolanError } from '../../domain/errors.ts';
import { EventRing } from './event-ring.ts';
import { runEvents, type StreamEvent, type StreamRun } from './event-text.ts';
import { followService, type ServiceReader } from './follow-service.ts';
import { ServiceFeed } from './service-feed.ts';
import { readPosition } from './stream-position.ts';

const scanId = '20261006-143022-a1b2c3';

/** Records by hand: rows after the position, then `end`. */
class Rows implements Pick<RecordReader, 'follow'> {
  readonly rows: number;
  /** Fails once before this row. */
  faultAt = 0;
  closed = 0;

  constructor(rows: number) {
    this.rows = rows;
  }

  async follow(_scanId: string, from: number | 'end') {
    return { events: this.#events(from === 'end' ? this.rows : from), close: () => void (this.closed += 1) };
  }

  async *#events(from: number): AsyncGenerator<EventRun> {
    for (let row = from + 1; row <= this.rows; row++) {
      if (row === this.faultAt) {
        this.faultAt = 0;
        throw new PortolanError('unavailable', 'away');
      }
      yield [{ event: 'host', id: row, data: JSON.stringify({ type: 'host', host: `10.0.0.${row}` }) }];
    }
    yield [{ event: 'end', data: JSON.stringify({ scan_id: scanId }) }];
  }
}

function readerOf(feed: ServiceFeed, more: Partial<ServiceReader> = {}) {
  const [gone, closing] = [new AbortController(), new AbortController()];
  const reader: ServiceReader = {
    feed,
    position: null,
    scans: [],
    records: new Rows(0),
    holds: () => true,
    hello: { version: '1' },
    gone: gone.signal,
    closing: closing.signal,
    ...more,
  };
  return { events: followService(reader), gone, closing };
}

async function take(events: AsyncGenerator<StreamEvent | StreamRun>, count: number): Promise<StreamEvent[]> {
  const taken: StreamEvent[] = [];
  while (taken.length < count) {
    const { value, done } = await events.next();
    if (done) break;
    taken.push(...('run' in value ? runEvents(value) : [value]));
  }
  return taken;
}

describe('followService', () => {
  it('begins with hello and goes on with what happens from then on', async () => {
    const feed = new ServiceFeed([], () => undefined);
    feed.emit('scan', { scan_id: 'before' });
    const { events } = readerOf(feed);
    const [hello] = await take(events, 1);
    expect(hello).toMatchObject({ event: 'hello', id: `${feed.ring.epoch}.1` });
    expect(JSON.parse(hello?.data ?? '')).toEqual({ version: '1', epoch: feed.ring.epoch });
    feed.emit('job', { job_id: 'job-1' });
    expect(await take(events, 1)).toEqual([
      { event: 'job', data: '{"job_id":"job-1"}', id: `${feed.ring.epoch}.2` },
    ]);
    await events.return(undefined);
  });

  it('replays what happened since the last received event', async () => {
    const feed = new ServiceFeed([], () => undefined);
    for (const index of [1, 2, 3]) feed.emit('scan', { index });
    const { events } = readerOf(feed, { position: readPosition(`${feed.ring.epoch}.1`) });
    const found = await take(events, 3);
    expect(found.map(({ event, data }) => `${event} ${data}`).slice(1)).toEqual([
      'scan {"index":2}',
      'scan {"index":3}',
    ]);
    await events.return(undefined);
  });

  it.each([
    ['of another server', (feed: ServiceFeed) => `${'0'.repeat(12)}.${feed.ring.last}`],
    ['that is too old', (feed: ServiceFeed) => `${feed.ring.epoch}.1`],
  ])('reports that it cannot replay after a position %s', async (_what, positionOf) => {
    const feed = new ServiceFeed([], () => undefined, new EventRing(4));
    for (let index = 0; index < 20; index++) feed.emit('scan', { index });
    const { events } = readerOf(feed, { position: readPosition(positionOf(feed)) });
    const found = await take(events, 2);
    expect(found[1]).toEqual({ event: 'reset', data: '{"reason":"position_lost"}', id: null });
    feed.emit('scan', { index: 'next' });
    expect((await take(events, 1))[0]?.data).toBe('{"index":"next"}');
    await events.return(undefined);
  });

  it('gives a slow reader the newest progress only, and every other event', async () => {
    const feed = new ServiceFeed([], () => undefined);
    const { events } = readerOf(feed);
    await take(events, 1);
    for (let percent = 1; percent <= 50; percent++) {
      feed.setLatest('a', 'scan', { scan_id: 'a', percent });
      feed.emit('job', { percent });
    }
    const found = await take(events, 51);
    expect(found.filter(({ event }) => event === 'job')).toHaveLength(50);
    expect(found.filter(({ event }) => event === 'scan').map(({ data }) => data)).toEqual([
      '{"scan_id":"a","percent":50}',
    ]);
    await events.return(undefined);
  });

  it('reports to a reader that missed more than is replayed that it did', async () => {
    const feed = new ServiceFeed([], () => undefined, new EventRing(4));
    const { events } = readerOf(feed);
    await take(events, 1);
    for (let index = 0; index < 20; index++) feed.emit('scan', { index });
    expect((await take(events, 1))[0]).toMatchObject({ event: 'reset', data: '{"reason":"too_slow"}' });
    feed.emit('scan', { index: 'next' });
    expect((await take(events, 1))[0]?.data).toBe('{"index":"next"}');
    await events.return(undefined);
  });

  it('names the scan in its rows and their position in the id', async () => {
    const feed = new ServiceFeed([], () => undefined);
    const records = new Rows(3);
    const { events } = readerOf(feed, { records, scans: [{ scanId, from: 1 }] });
    const found = await take(events, 4);
    expect(found[0]?.id).toBe(`${feed.ring.epoch}.0;${scanId}=1`);
    expect(found[1]).toEqual({
      event: 'host',
      id: `${feed.ring.epoch}.0;${scanId}=2`,
      data: `{"scan_id":"${scanId}","type":"host","host":"10.0.0.2"}`,
    });
    expect(found[3]).toMatchObject({ event: 'end', id: null });
    await events.return(undefined);
    expect(records.closed).toBe(1);
  });

  it('goes on with a scan after its server was away', async () => {
    const feed = new ServiceFeed([], () => undefined);
    const records = new Rows(4);
    records.faultAt = 3;
    const { events } = readerOf(feed, { records, scans: [{ scanId, from: 0 }] });
    const found = await take(events, 6);
    expect(found.slice(1, 5).map(({ id }) => id?.split('=')[1])).toEqual(['1', '2', '3', '4']);
    await events.return(undefined);
  });

  it('reports an unknown scan as deleted, and goes on', async () => {
    const feed = new ServiceFeed([], () => undefined);
    const records: Pick<RecordReader, 'follow'> = {
      follow: () => Promise.reject(new PortolanError('not_found', 'There is no such scan.')),
    };
    const { events } = readerOf(feed, { records, scans: [{ scanId, from: 'end' }] });
    expect((await take(events, 2))[1]).toEqual({
      event: 'scan_deleted',
      data: `{"scan_id":"${scanId}"}`,
      id: null,
    });
    feed.emit('job', {});
    expect((await take(events, 1))[0]?.event).toBe('job');
    await events.return(undefined);
  });

  it('hides alerts from tokens that may not read them', async () => {
    const feed = new ServiceFeed([], () => undefined);
    const { events } = readerOf(feed, { holds: () => false });
    await take(events, 1);
    feed.emit('alert', { name: 'a' }, 'metrics:read');
    feed.emit('job', {});
    expect((await take(events, 1))[0]?.event).toBe('job');
    await events.return(undefined);
  });

  it('ends when its reader leaves; when the server closes, after the last events', async () => {
    const feed = new ServiceFeed([], () => undefined);
    const first = readerOf(feed);
    await take(first.events, 1);
    const next = first.events.next();
    await turn();
    first.gone.abort();
    expect((await next).done).toBe(true);

    const second = readerOf(feed);
    await take(second.events, 1);
    feed.emit('draining', { running: 0, saved: 1 });
    second.closing.abort();
    expect((await take(second.events, 5)).map(({ event }) => event)).toEqual(['draining']);
  });
});
