import type { ConnectRouter } from '@connectrpc/connect';
import { cancelJob } from '../../../actions/jobs/cancel-job.ts';
import { listJobs } from '../../../actions/jobs/list-jobs.ts';
import { showJob } from '../../../actions/jobs/show-job.ts';
import { submitJob } from '../../../actions/jobs/submit-job.ts';
import { jobIdPattern } from '../../../domain/job.ts';
import type { RouteContext } from '../../context.ts';
import { jobBody, jobListQuery } from '../../http/resources/jobs.ts';
import { type AdmittedCall, unary } from '../call.ts';
import { type JobId, JobSchema, JobService, ListJobsResponseSchema } from '../gen/service_pb.ts';
import { readIdempotencyKey } from '../idempotency-key.ts';
import { messageOf } from '../messages.ts';
import { given, RequestBody } from '../request-body.ts';
import { numberOf, scanRequestOf } from './scan-service.ts';

const submissions = new RequestBody(jobBody, 'body');
const lists = new RequestBody(jobListQuery, 'query');

export function addJobs(router: ConnectRouter, context: RouteContext): void {
  const { config, workers } = context;
  const view = ({ space: { store } }: AdmittedCall) => ({
    config,
    closure: workers.closure,
    waitsFor: workers.waitsFor,
    store,
  });

  router.service(JobService, {
    submitJob: unary(async ({ type, params, schedule, pool, name, idempotencyKey }, call) => {
      const submission = submissions.read({ type: given(type), params, schedule, pool, name }, call);
      const key = readIdempotencyKey(idempotencyKey);
      const order = scanRequestOf(context, call);
      const { job, replayed } = await submitJob(order, submission, call.token?.id ?? null, key);
      call.resource = { type: 'job', id: job.job_id };
      if (replayed) call.headers['idempotency-replayed'] = 'true';
      return messageOf(JobSchema, job);
    }, true),

    listJobs: unary(async ({ limit, offset, cursor, status, since, pool, type }, call) => {
      const place = { limit, offset: numberOf(offset), cursor };
      const query = lists.read({ ...place, status, since, pool, type }, call);
      return messageOf(ListJobsResponseSchema, await listJobs(view(call), query));
    }),

    getJob: unary(async (message, call) => {
      return messageOf(JobSchema, await showJob(view(call), idOf(message, call)));
    }),

    cancelJob: unary(async (message, call) =>
      messageOf(JobSchema, await cancelJob({ ...context, ...call.space }, idOf(message, call))),
    ),
  });
}

/** Id in a message; also recorded for the audit log. */
function idOf({ jobId }: JobId, call: AdmittedCall): string {
  call.resource = { type: 'job', id: jobIdPattern.test(jobId) ? jobId : null };
  return jobId;
}
