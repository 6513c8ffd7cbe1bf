import { describe, expect, it } from 'vitest';
import type { EventRun } from '../../actions/scans/watch-scan.ts';
import { eventText, plainFrame, runEvents, runText } from './event-text.ts';

const run: EventRun = [
  { event: 'host', id: 7, data: '{"type":"host","host":"10.0.0.7"}' },
  { event: 'end', data: '{"scan_id":"a","status":"completed"}' },
];

describe('runText', () => {
  it('is the text of its events', () => {
    for (const frame of [plainFrame, { scanId: 'a', before: 'e.4;a=', behind: ';b=2' }]) {
      expect(runText({ run, frame }).toString()).toBe(runEvents({ run, frame }).map(eventText).join(''));
    }
  });

  it('names the scan in the data and the place of all scans in the id', () => {
    const frame = { scanId: 'a', before: 'e.4;a=', behind: ';b=2' };
    expect(runText({ run, frame }).toString()).toBe(
      'event: host\nid: e.4;a=7;b=2\ndata: {"scan_id":"a","type":"host","host":"10.0.0.7"}\n\n' +
        'event: end\ndata: {"scan_id":"a","status":"completed"}\n\n',
    );
  });

  it('is made once for all streams with the same frame', () => {
    const frame = { scanId: 'a', before: 'e.4;a=', behind: '' };
    const text = runText({ run, frame });
    expect(runText({ run, frame: { ...frame } })).toBe(text);
    expect(runText({ run, frame: { ...frame, before: 'e.5;a=' } })).not.toBe(text);
  });
});
