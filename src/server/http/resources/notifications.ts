import { Type } from 'typebox';
import { listChannels } from '../../../actions/notifications/list-channels.ts';
import { testChannel } from '../../../actions/notifications/test-channel.ts';
import { maxChannelLength } from '../../../domain/channel.ts';
import { isOperator } from '../../access/tenants.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { nullableText } from '../schema/schemas.ts';

const testRequest = Type.Object({
  channel: Type.String({ minLength: 1, maxLength: maxChannelLength, description: 'e.g. `slack://security`' }),
});

const testSchema = Type.Object(
  {
    channel: Type.String(),
    status: Type.Enum(['delivered', 'skipped', 'failed'], {
      description: 'skipped: the channel is not configured',
    }),
    reason: Type.Unsafe<string | null>({
      ...nullableText,
      description: 'why it was skipped or failed; or that some of several recipients were rejected',
    }),
  },
  { title: 'ChannelTest' },
);

const channelSchema = Type.Object(
  {
    channel: Type.String({ description: 'as scans and jobs name it, e.g. `slack://default`' }),
    default: Type.Boolean({ description: 'notified by scans that name no channel' }),
    by_rule: Type.Boolean({ description: 'a rule names it' }),
    leads_to: Type.Unsafe<string | null>({ ...nullableText, description: 'for tokens with `admin` only' }),
    origin: Type.Unsafe<string | null>({
      ...nullableText,
      description:
        'file:line:column, environment variable or flag of its setting; for tokens with `admin` only',
    }),
  },
  { title: 'NotificationChannel' },
);

export function notificationRoutes(app: App, { config, settings, closing }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/notifications/channels',
    config: {
      access: ['scan:read', 'scan:write', 'scan:execute', 'job:read', 'job:write'],
      wholeService: true,
    },
    schema: {
      summary: 'List the notification channels that the configuration has',
      response: { 200: enveloped(Type.Object({ channels: Type.Array(channelSchema) })) },
    },
    handler: async (request) => {
      const origins = isOperator(request.token) ? settings.origins : null;
      return envelope(request, { channels: listChannels(config, origins) });
    },
  });

  app.route({
    method: 'POST',
    url: '/api/v1/notifications/test',
    config: { access: ['admin'], wholeService: true },
    schema: {
      summary: 'Send a test message to a channel',
      description:
        'One try of 10 s at most, with the settings of the server. Rules and subscriptions do not apply.',
      body: testRequest,
      response: { 200: enveloped(testSchema) },
    },
    handler: async (request) =>
      envelope(request, await testChannel(config.notifications, request.body.channel, closing)),
  });
}
