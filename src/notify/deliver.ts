import type { Config } from '../config/schema.ts';
import { type NotificationChannel, parseChannel } from '../domain/channel.ts';
import { faultOf } from './delivery-fault.ts';
import { mailRecipients } from './mail-recipients.ts';
import type { OutgoingMessage } from './message.ts';
import { sendSlack, slackMissing } from './slack.ts';
import { sendWebhook, webhookNamed } from './webhook.ts';

export type NotificationSettings = Config['notifications'];

/** Outcome of an attempt. `remark` and `reason` are text for people and contain no secret. */
export type Tried =
  | { status: 'delivered'; remark: string | null }
  | { status: 'skipped'; reason: string }
  | { status: 'fault'; reason: string };

export interface Delivery extends OutgoingMessage {
  /** `<channel_type>://<channel_name>` */
  channel: string;
}

/** Timeout of an attempt, whatever the receiver does. */
export const tryTimeoutMs = 10_000;

/**
 * Attempts to send a message once. Never throws.
 * @param signal aborts the attempt; the outcome is then unknown, which the caller must handle
 */
export async function deliver(
  settings: NotificationSettings,
  { channel, ...message }: Delivery,
  signal: AbortSignal,
  timeoutMs = tryTimeoutMs,
): Promise<Tried> {
  const receiver = parseChannel(channel);
  if (receiver === null) return { status: 'skipped', reason: 'not a valid channel' };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await send(settings, receiver, message, limited);
  } catch (error) {
    return { status: 'fault', reason: faultOf(error).message };
  }
}

async function send(
  settings: NotificationSettings,
  { type, name }: NotificationChannel,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<Tried> {
  const { id, notice } = message;
  switch (type) {
    case 'slack': {
      const missing = slackMissing(settings.slack);
      if (missing !== null) return { status: 'skipped', reason: missing };
      await sendSlack(settings.slack, name, notice, signal);
      return delivered;
    }
    case 'webhook': {
      const found = webhookNamed(settings.webhooks, name, notice.event);
      if ('missing' in found) return { status: 'skipped', reason: found.missing };
      await sendWebhook(found.webhook, message, signal);
      return delivered;
    }
    case 'email': {
      const found = mailRecipients(settings.email, name);
      if ('missing' in found) return { status: 'skipped', reason: found.missing };
      // Large, so loaded with the first mail.
      const { sendEmail } = await import('./email.ts');
      const refused = await sendEmail(settings.email, found.recipients, notice, id, signal);
      return refused === 0
        ? delivered
        : { status: 'delivered', remark: `${refused} recipients were rejected` };
    }
  }
}

const delivered: Tried = { status: 'delivered', remark: null };
