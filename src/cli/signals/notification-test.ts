import type { ChannelTest } from '../../actions/notifications/test-channel.ts';
import { nullable, objectOf, text } from '../session/response-shape.ts';
import { findServer } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { readConfig } from '../session/session.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';

export interface NotificationTestFlags extends ServerFlags {
  format: string;
}

const channelTestShape = objectOf<ChannelTest>({ channel: text, status: text, reason: nullable(text) });

/** Sends a test message: through the server of the workspace or the named one, else from here. */
export async function testNotification(
  channel: string,
  flags: NotificationTestFlags,
  global: GlobalFlags,
): Promise<number> {
  const client = await findServer(flags, global);
  const result = client
    ? await client.call('POST', '/api/v1/notifications/test', channelTestShape, { channel })
    : await testFromHere(channel, global);
  print(flags.format === 'json' ? printableJson(result) : `${printable(lineOf(result))}\n`);
  return result.status === 'delivered' ? 0 : 1;
}

async function testFromHere(channel: string, global: GlobalFlags): Promise<ChannelTest> {
  const { testChannel } = await import('../../actions/notifications/test-channel.ts');
  const { config } = await readConfig(global);
  return await testChannel(config.notifications, channel, new AbortController().signal);
}

function lineOf({ channel, status, reason }: ChannelTest): string {
  return `${channel} ${status}${reason === null ? '' : `: ${reason}`}`;
}
