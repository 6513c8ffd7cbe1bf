/** Where traces go, by the environment variables of OpenTelemetry. */
export interface TraceSettings {
  url: string;
  headers: Record<string, string>;
  serviceName: string;
}

const endpointName = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const tracesEndpointName = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';

/**
 * @returns what is wrong with the variables where no traces can be sent; never the value of a variable, which may hold
 * a secret
 */
export function traceSettings(env: NodeJS.ProcessEnv): TraceSettings | { problem: string } {
  const [name, text] = env[tracesEndpointName]
    ? [tracesEndpointName, env[tracesEndpointName]]
    : [endpointName, env[endpointName] ?? ''];
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return { problem: `${name} is not an http or https URL` };
  if (url.username !== '' || url.password !== '')
    return { problem: `${name} holds credentials: put them into OTEL_EXPORTER_OTLP_HEADERS` };
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  if (protocol === 'grpc')
    return { problem: 'OTEL_EXPORTER_OTLP_PROTOCOL is grpc: traces are sent over HTTP only' };
  // The general endpoint is a base, the one of traces is used as it is.
  if (name === endpointName) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  const pairs = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'].map((variable) =>
    headersOf(env[variable] ?? ''),
  );
  if (pairs.includes(null)) return { problem: 'OTEL_EXPORTER_OTLP_HEADERS is not name=value,name=value' };
  const headers: Record<string, string> = Object.assign({}, ...pairs);
  return { url: url.href, headers, serviceName: env['OTEL_SERVICE_NAME'] || 'portolan' };
}

/** `name=value` pairs by commas, values percent-encoded; null when malformed. */
function headersOf(text: string): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue;
    const [name = '', ...rest] = pair.split('=');
    if (rest.length === 0) return null;
    try {
      const value = decodeURIComponent(rest.join('=').trim());
      new Headers().set(name.trim(), value);
      headers[name.trim().toLowerCase()] = value;
    } catch {
      return null;
    }
  }
  return headers;
}
