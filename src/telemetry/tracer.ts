import { hostname } from 'node:os';
import type { ScanOrigin } from '../domain/scan-origin.ts';
import { otlpBody } from './otlp-json.ts';
import { type EndedScan, type EndedShard, scanSpans, shardSpans, type TracedScan } from './scan-spans.ts';
import { SpanExporter, type SpanExporterInput } from './span-exporter.ts';
import type { TraceSettings } from './trace-settings.ts';

/** Longest wait for the receiver when the process stops, milliseconds. */
const closeMs = 2000;

export interface TracerInput extends Omit<SpanExporterInput, 'bodyOf'>, TraceSettings {
  /** Of the program. */
  version: string;
}

/** Sends the traces of scans and shards to a collector. Never throws, and nobody waits for it. */
export class Tracer {
  readonly #exporter: SpanExporter;

  constructor({ serviceName, version, ...input }: TracerInput) {
    const resource = {
      'service.name': serviceName,
      'service.version': version,
      'host.name': hostname(),
      'process.pid': process.pid,
    };
    this.#exporter = new SpanExporter({ ...input, bodyOf: (spans) => otlpBody(resource, version, spans) });
  }

  scanEnded(scan: EndedScan, origin: ScanOrigin): void {
    this.#exporter.add(scanSpans(scan, origin));
  }

  shardEnded(scan: TracedScan, origin: ScanOrigin, shard: EndedShard): void {
    this.#exporter.add(shardSpans(scan, origin, shard));
  }

  async close(): Promise<void> {
    await this.#exporter.close(closeMs);
  }
}
