import { Type } from 'typebox';
import { testChannel } from '../../../actions/notifications/test-channel.ts';
import { maxChannelLength } from '../../../domain/channel.ts';
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

export function notificationRoutes(app: App, { config, closing }: RouteContext): void {
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
