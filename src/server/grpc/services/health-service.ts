import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import type { ConnectRouter, HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { PortolanError } from '../../../domain/errors.ts';
import type { RouteContext } from '../../context.ts';
import { notReady } from '../../health.ts';
import { markReached } from '../call.ts';
import {
  Health,
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from '../gen/grpc/health/v1/health_pb.ts';
import { JobService, ScanService, WorkspaceService } from '../gen/service_pb.ts';
import { connectError } from '../status.ts';

/** Maximum delay before a change is reported. */
const lookMs = 1000;

/** Maximum number of concurrent watchers, which need no token. */
const maxWatchers = 1000;

/** Maximum size of a request, which is a service name, bytes; clients are not authenticated. */
const maxRequestBytes = 1024;

/** Service names; the empty name stands for the whole service. */
const known = new Set(['', ...[ScanService, JobService, WorkspaceService, Health].map((s) => s.typeName)]);

/** The standard health protocol: reports what `/readyz` does. */
export function addHealth(router: ConnectRouter, context: RouteContext): void {
  const status = ({ service }: HealthCheckRequest): HealthCheckResponse['status'] => {
    if (!known.has(service)) return Status.SERVICE_UNKNOWN;
    return notReady(context) === null ? Status.SERVING : Status.NOT_SERVING;
  };

  let watchers = 0;

  const methods: ServiceImpl<typeof Health> = {
    check: (request, handling) => {
      markReached(handling);
      const now = status(request);
      if (now !== Status.SERVICE_UNKNOWN) return create(HealthCheckResponseSchema, { status: now });
      throw connectError(new PortolanError('not_found', 'Unknown service.'));
    },

    watch: async function* changes(request, handling: HandlerContext) {
      markReached(handling);
      const ended = AbortSignal.any([handling.signal, context.closing]);
      let reported: HealthCheckResponse['status'] | null = null;
      if (watchers >= maxWatchers) {
        throw connectError(
          new PortolanError('unavailable', `Too many watchers: the limit is ${maxWatchers}.`),
        );
      }
      watchers++;
      try {
        for (;;) {
          const now = status(request);
          if (now !== reported) yield create(HealthCheckResponseSchema, { status: now });
          reported = now;
          if (ended.aborted) break;
          await sleep(lookMs, undefined, { signal: ended }).catch(() => undefined);
        }
      } finally {
        watchers--;
      }
      throw connectError(new PortolanError('unavailable', 'The server is shutting down.'));
    },
  };
  router.service(Health, methods, { readMaxBytes: maxRequestBytes });
}
