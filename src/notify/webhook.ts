import { createHmac } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { postJson } from './http-post.ts';
import { fitting, type ScanReport } from './message.ts';

type Webhook = Config['notifications']['webhooks'][number];

/** The entry that a channel means, or why nothing is sent to it. */
export function webhookNamed(
  webhooks: readonly Webhook[],
  name: string,
  event: ScanReport['event'],
): { webhook: Webhook } | { missing: string } {
  const webhook = webhooks.find((entry) => entry.name === name);
  if (webhook === undefined) return { missing: 'notifications.webhooks has no entry of this name' };
  const events: readonly string[] = webhook.events;
  const wanted = events.length === 0 || events.includes(event);
  return wanted ? { webhook } : { missing: `the webhook does not ask for ${event}` };
}

/** @param deliveryId alike in every try */
export async function sendWebhook(
  { url, secret, headers }: Webhook,
  news: ScanReport,
  deliveryId: string,
  signal: AbortSignal,
): Promise<void> {
  const body = await webhookBody(news);
  const own = {
    'x-service-event': news.event,
    'x-service-delivery': deliveryId,
    ...(secret && { 'x-service-signature': `sha256=${signature(body, secret)}` }),
  };
  await postJson(url, body, withOwn(headers, own), signal);
}

/** Hex HMAC-SHA256 of the body as it is sent. */
function signature(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** What is configured never replaces what the receiver relies on, however it is spelt. */
function withOwn(configured: Record<string, string>, own: Record<string, string>): Record<string, string> {
  const others = Object.entries(configured).filter(([name]) => !Object.hasOwn(own, name.toLowerCase()));
  return { 'user-agent': 'portolan', ...Object.fromEntries(others), ...own };
}

/** With very many targets, the first ones and `targets_total`. */
export async function webhookBody({
  error,
  targets,
  max_severity,
  url,
  ...news
}: ScanReport): Promise<string> {
  const { event, scan_id, status, started_at, completed_at, results, severity_counts } = news;
  return await fitting((shown) => {
    const cut = targets.length > shown;
    return JSON.stringify({
      event,
      scan_id,
      status,
      targets: cut ? targets.slice(0, shown) : targets,
      ...(cut && { targets_total: targets.length }),
      started_at,
      completed_at,
      results,
      severity_counts,
      max_severity,
      ...(error && { error }),
      ...(url !== null && { url }),
    });
  });
}
