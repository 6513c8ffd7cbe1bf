import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelOf,
  metricCatalog,
} from './catalog.ts';
import { processMetrics } from './process-metrics.ts';

/** Maximum wait for a value at a scrape, milliseconds; Prometheus gives up after 10 s by default. */
const readMs = 3000;

/** Creates the metrics of the catalog and renders them. */
export class MetricRegistry {
  readonly #registry = new Registry();
  readonly registers = [this.#registry];

  /** @param fill called at a scrape to set the values */
  counter<Name extends CounterName>(
    name: Name,
    fill: (counter: Counter<LabelOf<Name>>) => void = () => undefined,
  ): Counter<LabelOf<Name>> {
    const { help, labels } = metricCatalog[name];
    const counter: Counter<LabelOf<Name>> = new Counter<LabelOf<Name>>({
      name,
      help,
      labelNames: labels,
      registers: this.registers,
      collect: () => fill(counter),
    });
    return counter;
  }

  histogram<Name extends HistogramName>(name: Name): Histogram<LabelOf<Name>> {
    const { help, labels, buckets } = metricCatalog[name];
    return new Histogram<LabelOf<Name>>({
      name,
      help,
      labelNames: labels,
      buckets: [...buckets],
      registers: this.registers,
    });
  }

  /**
   * A gauge without labels. If its value cannot be read, only this gauge is omitted.
   *
   * @param read returns the value; null = none
   */
  gauge(name: GaugeName, read: () => number | null | Promise<number | null>): void {
    const { help } = metricCatalog[name];
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: this.registers,
      collect: async () => {
        const value = await inTime(read).catch(() => null);
        if (value === null) gauge.remove();
        else gauge.set(value);
      },
    });
  }

  /** A gauge with one label. @param read returns a value for each label value */
  gaugeBy<Name extends GaugeName>(
    name: Name,
    label: LabelOf<Name>,
    read: () => Record<string, number> | Promise<Record<string, number>>,
  ): void {
    const { help, labels } = metricCatalog[name];
    const gauge: Gauge<string> = new Gauge({
      name,
      help,
      labelNames: labels,
      registers: this.registers,
      collect: async () => {
        const values = await inTime(read).catch(() => ({}));
        gauge.reset();
        for (const [of, value] of Object.entries(values)) gauge.set({ [label]: of }, value);
      },
    });
  }

  /** Adds the metrics of the Node.js process. */
  addProcess(): void {
    for (const metric of processMetrics()) this.#registry.registerMetric(metric);
  }

  /** @param format `text`: Prometheus text format 0.0.4 */
  async render(format: 'text' | 'openmetrics'): Promise<{ contentType: string; text: string }> {
    const registry = format === 'text' ? this.#registry : openMetricsOf(this.#registry);
    return { contentType: registry.contentType, text: await registry.metrics() };
  }
}

type RenderedMetric = ReturnType<Registry['getMetricsAsArray']>[number];

/**
 * The same metrics in OpenMetrics 1.0. The library renames the counters of such a registry, so it gets copies: in
 * this format only the samples of a counter have the suffix, and bucket bounds are decimal numbers.
 */
function openMetricsOf(registry: Registry): Registry {
  const copy = new Registry(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of registry.getMetricsAsArray() as Readable[]) {
    const { name, type } = metric;
    const family = type === 'counter' ? name.replace(/_total$/, '') : name;
    const getForPromString = async () => {
      const { values, ...read } = await (metric.getForPromString ? metric.getForPromString() : metric.get());
      return { ...read, name: family, values: values.map(withDecimalBound) };
    };
    copy.registerMetric({ ...metric, name, type, getForPromString } as never);
  }
  return copy;
}

type Readable = RenderedMetric & {
  type: string;
  get(): Promise<Values>;
  getForPromString?(): Promise<Values>;
};

interface Values {
  values: { labels?: Record<string, string | number> }[];
}

/** Strict parsers of OpenMetrics accept `le="60.0"` and reject `le="60"`. */
function withDecimalBound<Value extends Values['values'][number]>(value: Value): Value {
  const { le } = value.labels ?? {};
  return Number.isInteger(le) ? { ...value, labels: { ...value.labels, le: `${le}.0` } } : value;
}

/** @throws Error on timeout */
async function inTime<T>(read: () => T | Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('the value did not come in time')), readMs);
  try {
    return await Promise.race([read(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
