import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventText } from './event-text.ts';

const stream = 'event: hello\ndata: {"a":1}\n\n: alive\n\nevent: host\nid: e.4;s=7\ndata: {"b":2}\n\n';

it('reads events, leaves out comments', () => {
  expect(new EventText().add(stream)).toEqual([
    { event: 'hello', id: null, data: '{"a":1}' },
    { event: 'host', id: 'e.4;s=7', data: '{"b":2}' },
  ]);
});

it('reads the same events from any parts', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: stream.length })), (cuts) => {
      const text = new EventText();
      const places = [0, ...cuts.sort((a, b) => a - b), stream.length];
      const events = places.slice(1).flatMap((to, index) => text.add(stream.slice(places[index], to)));
      expect(events).toEqual(new EventText().add(stream));
    }),
  );
});

it('refuses an event without an end', () => {
  const text = new EventText();
  expect(() => text.add(`data: ${'x'.repeat(5_000_000)}`)).toThrow('too long');
});
