import { createHmac } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { fitting } from './fitting.ts';
import { postJson } from './http-post.ts';
import { type Notice, type OutgoingMessage, payload } from './message.ts';

type Webhook = Config['notifications']['webhooks'][number];

/** The configured webhook of a channel, or why nothing is sent. */
export function webhookNamed(
  webhooks: readonly Webhook[],
  name: string,
  event: Notice['event'],
): { webhook: Webhook } | { missing: string } {
  const webhook = webhooks.find((entry) => entry.name === name);
  if (webhook === undefined) return { missing: 'no webhook of this name in notifications.webhooks' };
  const events: readonly string[] = webhook.events;
  const wanted = events.length === 0 || event === 'test' || events.includes(event);
  return wanted ? { webhook } : { missing: `the webhook is not subscribed to ${event}` };
}

/** Signs the time of the attempt too: receivers can reject replayed messages. */
export async function sendWebhook(
  { url, secret, headers }: Webhook,
  { id, notice, requestId = null }: OutgoingMessage,
  signal: AbortSignal,
): Promise<void> {
  const body = await webhookBody(notice);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const own = {
    'x-service-event': notice.event,
    'x-service-delivery': id,
    ...(requestId !== null && { 'x-service-request-id': requestId }),
    'x-service-timestamp': timestamp,
    ...(secret && {
      'x-service-signature': `sha256=${signature(body, secret)}`,
      'x-service-signature-v2': `sha256=${signature(`${timestamp}.${body}`, secret)}`,
    }),
  };
  await postJson(url, body, withOwn(headers, own), signal);
}

/** Hex HMAC-SHA256. */
function signature(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

/** Configured headers never replace those that receivers rely on, in any spelling. */
function withOwn(configured: Record<string, string>, own: Record<string, string>): Record<string, string> {
  const others = Object.entries(configured).filter(([name]) => !Object.hasOwn(own, name.toLowerCase()));
  return { 'user-agent': 'portolan', ...Object.fromEntries(others), ...own };
}

export async function webhookBody(notice: Notice): Promise<string> {
  return await fitting((shown) => JSON.stringify(payload(notice, shown)));
}
