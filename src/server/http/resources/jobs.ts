import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { cancelJob } from '../../../actions/jobs/cancel-job.ts';
import { changeJob, runJobNow } from '../../../actions/jobs/change-job.ts';
import { listJobs } from '../../../actions/jobs/list-jobs.ts';
import { showJob } from '../../../actions/jobs/show-job.ts';
import { submitJob } from '../../../actions/jobs/submit-job.ts';
import { publicAddress } from '../../../config/public-url.ts';
import { type Job, jobStatuses, jobTypes } from '../../../domain/job.ts';
import { maxPriority, scanStatuses } from '../../../domain/scan.ts';
import { maxScheduleLength } from '../../../domain/time/cron.ts';
import { maxNameLength } from '../../../scan-run/plan/submission.ts';
import { originOf } from '../../access/request-id.ts';
import type { RouteContext } from '../../context.ts';
import { choicesOf } from '../../installed.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { linkHeader, pageMembers, pageQuery, sinceQuery, totalIsMinimum } from '../schema/list-page.ts';
import { countSchema, nullableText, submissionSchema, warningSchema } from '../schema/schemas.ts';
import { submissionHeaders } from './scans.ts';

const jobIdParams = Type.Object({ job_id: Type.String() });

export const jobBody = Type.Object(
  {
    type: Type.Enum([...jobTypes]),
    params: submissionSchema,
    schedule: Type.Optional(
      Type.String({
        maxLength: maxScheduleLength,
        description:
          'cron expression with five fields, or @hourly, @daily, @weekly, @monthly, @yearly; absent = one run now. ' +
          'Times are in queue.timezone.',
      }),
    ),
    pool: Type.Optional(Type.String({ minLength: 1 })),
    priority: submissionSchema.properties.priority,
    name: Type.Optional(Type.String({ maxLength: maxNameLength })),
  },
  { title: 'JobRequest' },
);

const time = Type.String({ format: 'date-time' });

const jobSchema = Type.Unsafe<Job>(
  Type.Object(
    {
      job_id: Type.String(),
      type: Type.Enum([...jobTypes]),
      params: Type.Object({}, { additionalProperties: true, description: 'the scan request of its runs' }),
      schedule: nullableText,
      pool: Type.String(),
      priority: Type.Integer({ minimum: 0, maximum: maxPriority, description: 'of its scans' }),
      name: nullableText,
      status: Type.Enum([...jobStatuses]),
      last_status: nullableText,
      progress: Type.Number({ minimum: 0, maximum: 100 }),
      scan_id: nullableText,
      run_count: countSchema,
      last_run_at: nullableText,
      next_run_at: nullableText,
      next_runs: Type.Array(time, { description: 'the next three run times' }),
      runs: Type.Array(
        Type.Object(
          {
            scan_id: nullableText,
            status: Type.Enum([...scanStatuses]),
            started_at: nullableText,
            completed_at: nullableText,
          },
          { title: 'JobRun' },
        ),
        { description: 'the last 20, newest first' },
      ),
      created_at: time,
      started_at: nullableText,
      completed_at: nullableText,
      error: Type.Union([Type.Null(), Type.Object({ code: Type.String(), message: Type.String() })]),
      warnings: Type.Optional(Type.Array(warningSchema, { description: 'why its run is delayed' })),
      created_by: nullableText,
    },
    { title: 'Job' },
  ),
);

export const jobListQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(Type.String({ description: jobStatuses.join(', ') })),
  since: sinceQuery,
  pool: Type.Optional(Type.String({ maxLength: 64 })),
  type: Type.Optional(Type.String({ description: jobTypes.join(', ') })),
});

const listSchema = Type.Object({
  jobs: Type.Array(jobSchema),
  ...pageMembers,
  total_is_minimum: totalIsMinimum,
});

export function jobRoutes(app: App, context: RouteContext): void {
  const { config, workers } = context;
  const { server } = config;
  const viewOf = ({ space: { store } }: FastifyRequest) => ({
    config,
    closure: workers.closure,
    waitsFor: workers.waitsFor,
    store,
  });

  app.route({
    method: 'POST',
    url: '/api/v1/jobs',
    config: {
      access: ['job:write', 'scan:write'],
      feature: 'jobs',
      refusals: ['conflict', 'queue_full', 'license_required'],
    },
    schema: {
      summary: 'Submit a one-off or recurring scan',
      headers: submissionHeaders,
      body: jobBody,
      response: { 201: enveloped(jobSchema) },
    },
    handler: async (request, reply) => {
      const choices = choicesOf(request.space.installed, workers.listeners);
      const origin = originOf(request.id, request.headers);
      const order = { ...context, ...request.space, choices, origin, wake: () => workers.wake() };
      const key = request.headers['idempotency-key'] ?? null;
      const { job, replayed } = await submitJob(order, request.body, request.tokenId, key);
      if (replayed) reply.header('idempotency-replayed', 'true');
      reply.code(201).header('location', publicAddress(server, `/api/v1/jobs/${job.job_id}`));
      return envelope(request, job);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/v1/jobs',
    config: { access: ['job:read', 'scan:read'], feature: 'jobs' },
    schema: {
      summary: 'List jobs, newest first',
      querystring: jobListQuery,
      response: { 200: enveloped(listSchema) },
    },
    handler: async (request, reply) => {
      const list = await listJobs(viewOf(request), request.query);
      reply.header('link', linkHeader(publicAddress(server, '/api/v1/jobs'), request.query, list));
      return envelope(request, list);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/v1/jobs/:job_id',
    config: { access: ['job:read', 'scan:read'], feature: 'jobs' },
    schema: { summary: 'Show a job', params: jobIdParams, response: { 200: enveloped(jobSchema) } },
    handler: async (request) => envelope(request, await showJob(viewOf(request), request.params.job_id)),
  });

  app.route({
    method: 'PUT',
    url: '/api/v1/jobs/:job_id',
    config: {
      access: ['job:write', 'scan:write'],
      feature: 'jobs',
      refusals: ['conflict', 'license_required'],
    },
    schema: {
      summary: 'Change a recurring job',
      description: 'Its id and runs stay; a run that is under way goes on as it was.',
      params: jobIdParams,
      body: jobBody,
      response: { 200: enveloped(jobSchema) },
    },
    handler: async (request) => {
      const choices = choicesOf(request.space.installed, workers.listeners);
      const order = { ...context, ...request.space, choices, wake: () => workers.wake() };
      const { job_id } = request.params;
      return envelope(request, await changeJob(order, job_id, request.body, request.tokenId));
    },
  });

  app.route({
    method: 'POST',
    url: '/api/v1/jobs/:job_id/run',
    config: { access: ['job:write', 'scan:write'], feature: 'jobs', refusals: ['conflict'] },
    schema: {
      summary: 'Run a recurring job now, in place of its next run',
      description: 'It starts within a second; the runs after it are at their times.',
      params: jobIdParams,
      response: { 200: enveloped(jobSchema) },
    },
    handler: async (request) =>
      envelope(request, await runJobNow(viewOf(request), request.params.job_id, context)),
  });

  app.route({
    method: 'POST',
    url: '/api/v1/jobs/:job_id/cancel',
    config: { access: ['job:write', 'scan:write'], feature: 'jobs', refusals: ['conflict'] },
    schema: {
      summary: 'Cancel a job and its running scan, whose results stay',
      params: jobIdParams,
      response: { 200: enveloped(jobSchema) },
    },
    handler: async (request) =>
      envelope(request, await cancelJob({ ...context, ...request.space }, request.params.job_id)),
  });
}
