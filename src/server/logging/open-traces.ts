import type { Tracer } from '../../telemetry/tracer.ts';
import type { ServerLog } from './log.ts';

/**
 * Traces by the environment variables of OpenTelemetry; null without an endpoint, and then none of its code is
 * loaded. Logs invalid variables and continues without traces.
 */
export async function openTraces(
  env: NodeJS.ProcessEnv,
  log: ServerLog,
  version: string,
): Promise<Tracer | null> {
  const asked = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const off = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (!asked || off) return null;
  const { traceSettings } = await import('../../telemetry/trace-settings.ts');
  const settings = traceSettings(env);
  if ('problem' in settings) {
    log.warn({ problem: settings.problem }, 'traces are off');
    return null;
  }
  const { Tracer } = await import('../../telemetry/tracer.ts');
  log.info({ endpoint: new URL(settings.url).origin }, 'traces are sent');
  return new Tracer({ ...settings, version, log });
}
