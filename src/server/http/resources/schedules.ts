import { Type } from 'typebox';
import { previewSchedule } from '../../../actions/jobs/preview-schedule.ts';
import { maxScheduleLength } from '../../../domain/time/cron.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';

const previewBody = Type.Object({
  schedule: Type.String({ maxLength: maxScheduleLength, description: 'as `schedule` of a job' }),
  zone: Type.Optional(
    Type.String({ maxLength: 64, description: 'IANA time zone; default: queue.timezone, as of jobs' }),
  ),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 5 })),
});

const previewSchema = Type.Object(
  {
    schedule: Type.String(),
    zone: Type.String(),
    in_words: Type.String({ description: 'e.g. at 02:00 on Monday to Friday' }),
    next: Type.Array(Type.String({ format: 'date-time' })),
  },
  { title: 'SchedulePreview' },
);

export function scheduleRoutes(app: App, { config }: Pick<RouteContext, 'config'>): void {
  app.route({
    method: 'POST',
    url: '/api/v1/schedules/preview',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'Show when a schedule fires',
      body: previewBody,
      response: { 200: enveloped(previewSchema) },
    },
    handler: async (request) => {
      const { schedule, zone = config.queue.timezone, count = 5 } = request.body;
      return envelope(request, previewSchedule(schedule, zone, count));
    },
  });
}
