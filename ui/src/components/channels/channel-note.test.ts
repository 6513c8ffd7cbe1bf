import { expect, it } from 'vitest';
import { channelNote } from './channel-note.ts';

it('says where a channel leads and what sends to it unasked', () => {
  const channel = { channel: 'slack://default', origin: null };
  expect(channelNote({ ...channel, leads_to: '#ops', default: true, by_rule: true })).toBe(
    'to #ops, default of scans, notified by a rule',
  );
  expect(channelNote({ ...channel, leads_to: null, default: false, by_rule: false })).toBe('');
});
