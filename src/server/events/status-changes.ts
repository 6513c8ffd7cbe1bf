import type { ListedAlert } from '../../actions/alerts/list-alerts.ts';
import type { Health } from '../health.ts';
import type { ChangeSource, EventSink } from './service-feed.ts';

/** Interval of reads, milliseconds. */
const readMs = 5000;

/** Reports alerts that change their state. */
export class AlertChanges implements ChangeSource {
  readonly #list: () => Promise<ListedAlert[]>;
  #known: ReadonlyMap<string, string> | null = null;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(list: () => Promise<ListedAlert[]>) {
    this.#list = list;
  }

  async poll(sink: EventSink): Promise<void> {
    const now = performance.now();
    if (now - this.#readAt < readMs) return;
    this.#readAt = now;
    const alerts = await this.#list();
    const known = this.#known;
    for (const alert of alerts)
      if (known && known.get(alert.name) !== alert.state) sink.emit('alert', alert, 'metrics:read');
    this.#known = new Map(alerts.map(({ name, state }) => [name, state]));
  }
}

/** Reports the health of the service when it changes. */
export class HealthChanges implements ChangeSource {
  readonly #check: () => Promise<Health>;
  #known = '';
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(check: () => Promise<Health>) {
    this.#check = check;
  }

  async poll(sink: EventSink): Promise<void> {
    const now = performance.now();
    if (now - this.#readAt < readMs) return;
    this.#readAt = now;
    const health = await this.#check();
    const { status, workers, queue, windows, checks } = health;
    const state = JSON.stringify([status, workers, queue, windows, checks]);
    if (state === this.#known) return;
    this.#known = state;
    sink.setLatest('health', 'health', health);
  }
}
