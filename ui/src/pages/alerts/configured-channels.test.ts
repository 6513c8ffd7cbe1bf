import { expect, it } from 'vitest';
import { configuredChannels } from './configured-channels.ts';

const settings = (values: Record<string, unknown>) =>
  Object.entries(values).map(([key, value]) => ({ key: `notifications.${key}`, value }));

it('lists what the settings make possible', () => {
  const found = configuredChannels(
    settings({
      default_channels: ['slack://default', 'email://ops@example.org'],
      'slack.webhook_url': '••••',
      'slack.channel': '#security',
      'email.smtp_server': 'smtp.example.com',
      'email.to': ['a@example.org', 'b@example.org'],
      webhooks: [{ name: 'siem', url: 'https://siem.example.com/in', secret: '••••' }],
    }),
  );
  expect(found).toEqual([
    { address: 'slack://default', note: 'to #security', isDefault: true },
    { address: 'email://default', note: 'to a@example.org, b@example.org', isDefault: false },
    { address: 'webhook://siem', note: 'https://siem.example.com/in', isDefault: false },
    { address: 'email://ops@example.org', note: '', isDefault: true },
  ]);
});

it('without settings there is none', () => {
  expect(configuredChannels(settings({ 'slack.webhook_url': null, webhooks: null }))).toEqual([]);
});
