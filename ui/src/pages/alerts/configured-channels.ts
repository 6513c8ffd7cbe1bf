export interface Channel {
  /** `slack://default`, `email://default`, `webhook://name` */
  address: string;
  /** Scans that name no channel notify it. */
  isDefault: boolean;
  note: string;
}

interface Setting {
  key: string;
  value?: unknown;
}

/** The channels that the settings `notifications.*` make possible, and those they name. */
export function configuredChannels(settings: readonly Setting[]): Channel[] {
  const valueOf = (key: string) =>
    settings.find((setting) => setting.key === `notifications.${key}`)?.value ?? null;
  const defaults = textsOf(valueOf('default_channels'));
  const found = new Map<string, string>();
  if (valueOf('slack.webhook_url') !== null)
    found.set('slack://default', slackNote(valueOf('slack.channel')));
  if (valueOf('email.smtp_server') !== null)
    found.set('email://default', `to ${textsOf(valueOf('email.to')).join(', ') || 'nobody yet'}`);
  for (const { name, url } of webhooksOf(valueOf('webhooks'))) found.set(`webhook://${name}`, url);
  for (const each of defaults) if (!found.has(each)) found.set(each, '');
  return [...found].map(([address, note]) => ({ address, note, isDefault: defaults.includes(address) }));
}

function slackNote(channel: unknown): string {
  return typeof channel === 'string' ? `to ${channel}` : "to the webhook's own channel";
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function webhooksOf(value: unknown): { name: string; url: string }[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    const { name, url } = (each ?? {}) as Record<string, unknown>;
    return typeof name === 'string' ? [{ name, url: typeof url === 'string' ? url : '' }] : [];
  });
}
