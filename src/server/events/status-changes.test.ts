import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ListedAlert } from '../../actions/alerts/list-alerts.ts';
import type { Health } from '../health.ts';
import type { EventSink } from './service-feed.ts';
import { AlertChanges, HealthChanges } from './status-changes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function sinkOf(found: unknown[]): EventSink {
  return {
    emit: (event, data, needs) => void found.push([event, (data as ListedAlert).state, needs]),
    setLatest: (_key, event, data) => void found.push([event, (data as Health).status]),
    dropLatest: () => undefined,
  };
}

/** A poll that reads. */
async function poll(source: AlertChanges | HealthChanges, sink: EventSink): Promise<void> {
  vi.advanceTimersByTime(5000);
  await source.poll(sink);
}

describe('AlertChanges', () => {
  it('reports an alert whose state changes, to those who may read alerts', async () => {
    const found: unknown[] = [];
    let state = 'inactive';
    const changes = new AlertChanges(async () => [{ name: 'a', state } as ListedAlert]);
    await poll(changes, sinkOf(found));
    state = 'firing';
    await poll(changes, sinkOf(found));
    await poll(changes, sinkOf(found));
    expect(found).toEqual([['alert', 'firing', 'metrics:read']]);
  });
});

describe('HealthChanges', () => {
  it('reports health first and when it changes, not when only time passes', async () => {
    const found: unknown[] = [];
    const health = { status: 'healthy', uptime: 1 } as Health;
    const changes = new HealthChanges(async () => ({ ...health }));
    await poll(changes, sinkOf(found));
    health.uptime = 6;
    await poll(changes, sinkOf(found));
    health.status = 'degraded';
    await poll(changes, sinkOf(found));
    expect(found).toEqual([
      ['health', 'healthy'],
      ['health', 'degraded'],
    ]);
  });
});
