import { expect, it } from 'vitest';
import { HeldEvents } from './held-events.ts';
import { LiveEvent } from './live-event.ts';

const eventOf = (event: string, data: object) =>
  new LiveEvent({ event, scan: null, data: JSON.stringify(data) });

const taken = (held: HeldEvents) => held.take().map(({ event, data }) => [event, data]);

it('of each scan only the newest state is held, of other events one', () => {
  const held = new HeldEvents();
  for (let percent = 1; percent <= 50; percent++) {
    held.add(eventOf('scan', { scan_id: 'a', percent }));
    held.add(eventOf('job', { percent }));
  }
  held.add(eventOf('scan', { scan_id: 'b', percent: 1 }));
  expect(taken(held)).toEqual([
    ['scan', { scan_id: 'a', percent: 50 }],
    ['job', { percent: 50 }],
    ['scan', { scan_id: 'b', percent: 1 }],
  ]);
  expect(taken(held)).toEqual([]);
});

it('a reset replaces everything, and so do too many scans', () => {
  const held = new HeldEvents();
  held.add(eventOf('scan', { scan_id: 'a' }));
  held.add(eventOf('reset', { reason: 'too_slow' }));
  held.add(eventOf('scan', { scan_id: 'a' }));
  expect(taken(held)).toEqual([['reset', {}]]);
  for (let scan = 0; scan < 1000; scan++) held.add(eventOf('scan', { scan_id: String(scan) }));
  expect(taken(held)).toEqual([['reset', {}]]);
});
