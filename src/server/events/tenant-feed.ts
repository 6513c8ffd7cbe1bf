import type { TenantContext } from '../access/tenants.ts';
import type { RouteContext } from '../context.ts';
import { checkHealth } from '../health.ts';
import { JobChanges } from './job-changes.ts';
import { ScanChanges } from './scan-changes.ts';
import { ServiceFeed } from './service-feed.ts';
import { AlertChanges, HealthChanges } from './status-changes.ts';

/** The feed of a tenant, shared by all who follow it. */
export function tenantFeed(context: RouteContext, space: TenantContext): ServiceFeed {
  return context.events.of(space.tenant, () => newFeed(context, space));
}

function newFeed(context: RouteContext, space: TenantContext): ServiceFeed {
  const { workers, shards, license, config, alerts, log } = context;
  const { store } = space;
  const view = () => ({ config, closure: workers.closure, waitsFor: workers.waitsFor, store });
  const sources = [
    new ScanChanges({ store, workers, isShared: shards !== null }),
    new JobChanges(view, () => license.features().includes('jobs')),
    new AlertChanges(() => alerts.list()),
    new HealthChanges(() => checkHealth(context, space)),
  ];
  return new ServiceFeed(sources, (err) =>
    log.debug({ err }, 'cannot read changes of the service, retrying'),
  );
}
