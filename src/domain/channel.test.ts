import { describe, expect, it } from 'vitest';
import { channelProblem, maxChannelLength, parseChannel } from './channel.ts';

describe('a channel', () => {
  it.each([
    ['slack://security-alerts', 'slack', 'security-alerts'],
    ['email://default', 'email', 'default'],
    ['email://a+b@example.org', 'email', 'a+b@example.org'],
    ['webhook://siem/x', 'webhook', 'siem/x'],
  ])('%s is read', (text, type, name) => {
    expect([parseChannel(text), channelProblem(text)]).toEqual([{ type, name }, null]);
  });

  it.each([
    ['nope', 'is not of the form <channel_type>'],
    ['slack://', 'is not of the form <channel_type>'],
    ['Slack://x', 'is not of the form <channel_type>'],
    ['slack://a\r\nBcc: b', 'is not of the form <channel_type>'],
    ['email://a\u0000', 'is not of the form <channel_type>'],
    ['teams://x', 'has an unknown channel type; known: slack, email, webhook'],
    [`slack://${'x'.repeat(maxChannelLength)}`, 'has more than 320 characters'],
  ])('%j is refused', (text, reason) => {
    expect(parseChannel(text)).toBeNull();
    expect(channelProblem(text)).toContain(reason);
  });
});
