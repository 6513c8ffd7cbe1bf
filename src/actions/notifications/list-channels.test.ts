import { expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { listChannels } from './list-channels.ts';

const { config } = loadConfig({ env: {}, systemFile: '/nowhere/none.yaml', flags: {} });
const notifications = {
  ...config.notifications,
  default_channels: ['slack://default', 'email://ops@example.org'],
  slack: { ...config.notifications.slack, webhook_url: 'https://hooks.example.com/x', channel: '#security' },
  webhooks: [{ name: 'siem', url: 'https://siem.example.com/in?key=1' }],
  rules: [{ channels: ['webhook://siem', 'slack://night'] }],
} as unknown as typeof config.notifications;
const origins = new Map([
  ['notifications.slack.webhook_url', 'portolan.yaml:4:5'],
  ['notifications.webhooks', 'portolan.yaml:9:5'],
]);

it('lists what the settings make possible and what they name, with the line that it comes from', () => {
  const plain = { default: false, by_rule: false, leads_to: null, origin: null };
  expect(listChannels({ notifications }, origins)).toEqual([
    {
      ...plain,
      channel: 'slack://default',
      default: true,
      leads_to: '#security',
      origin: 'portolan.yaml:4:5',
    },
    {
      ...plain,
      channel: 'webhook://siem',
      by_rule: true,
      leads_to: 'https://siem.example.com',
      origin: 'portolan.yaml:9:5',
    },
    { ...plain, channel: 'email://ops@example.org', default: true },
    { ...plain, channel: 'slack://night', by_rule: true },
  ]);
});

it('hides where channels lead from those who may not see settings; without settings there is none', () => {
  const [first] = listChannels({ notifications }, null);
  expect([first?.leads_to, first?.origin]).toEqual([null, null]);
  expect(listChannels(config, origins)).toEqual([]);
});
