import { randomUUID } from 'node:crypto';
import { channelProblem } from '../../domain/channel.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { deliver, type NotificationSettings } from '../../notify/deliver.ts';
import { testNotice } from '../../notify/test-notice.ts';

/** How the test of a channel ended. */
export interface ChannelTest {
  channel: string;
  status: 'delivered' | 'skipped' | 'failed';
  /** Why it was skipped or failed, or what a mail server rejected; never a secret or text of the receiver. */
  reason: string | null;
}

/**
 * Sends a test message to a channel, once, whatever rules and subscriptions say.
 *
 * @param timeoutMs time limit; default 10 s
 * @throws PortolanError `invalid_request` for a text that is not a channel
 */
export async function testChannel(
  settings: NotificationSettings,
  channel: string,
  signal: AbortSignal,
  timeoutMs?: number,
): Promise<ChannelTest> {
  const problem = channelProblem(channel);
  if (problem !== null) throw invalidRequest(`channel ${problem}`, [{ field: 'channel', reason: problem }]);
  const message = { id: randomUUID(), channel, notice: testNotice(new Date()) };
  const tried = await deliver(settings, message, signal, timeoutMs);
  if (tried.status === 'delivered') return { channel, status: 'delivered', reason: tried.remark };
  return { channel, status: tried.status === 'skipped' ? 'skipped' : 'failed', reason: tried.reason };
}
