import type { Config } from '../../config/schema.ts';

/** A channel that the configuration makes possible or names. */
export interface ListedChannel {
  /** `slack://default`, `email://default`, `webhook://name` */
  channel: string;
  /** Whether scans that name no channel notify it. */
  default: boolean;
  /** Whether a rule sends it notices of scans that do not name it. */
  by_rule: boolean;
  /** Where it leads; null for readers who may not see settings, and where no setting says. */
  leads_to: string | null;
  /** `file:line:column`, environment variable or flag of its setting; null likewise. */
  origin: string | null;
}

/** @param origins of settings; null hides where channels lead and come from */
export function listChannels(
  { notifications }: Pick<Config, 'notifications'>,
  origins: ReadonlyMap<string, string> | null,
): ListedChannel[] {
  const { slack, email, webhooks, default_channels: defaults, rules } = notifications;
  const found = new Map<string, { leadsTo: string | null; key: string }>();
  if (slack.webhook_url !== null) {
    const leadsTo = slack.channel ?? "the webhook's own channel";
    found.set('slack://default', { leadsTo, key: 'slack.webhook_url' });
  }
  if (email.smtp_server !== null)
    found.set('email://default', { leadsTo: email.to.join(', ') || 'nobody yet', key: 'email.smtp_server' });
  for (const { name, url } of webhooks)
    found.set(`webhook://${name}`, { leadsTo: URL.parse(url)?.origin ?? null, key: 'webhooks' });
  const named = new Set(rules.flatMap(({ channels }) => channels));
  for (const each of defaults)
    if (!found.has(each)) found.set(each, { leadsTo: null, key: 'default_channels' });
  for (const each of named) if (!found.has(each)) found.set(each, { leadsTo: null, key: 'rules' });
  return [...found].map(([channel, { leadsTo, key }]) => ({
    channel,
    default: defaults.includes(channel),
    by_rule: named.has(channel),
    leads_to: origins && leadsTo,
    origin: origins?.get(`notifications.${key}`) ?? null,
  }));
}
