import { describe, expect, it } from 'vitest';
import { traceSettings } from './trace-settings.ts';

const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318' };

describe('settings of traces', () => {
  it.each([
    ['http://collector.example:4318', 'http://collector.example:4318/v1/traces'],
    ['http://collector.example:4318/', 'http://collector.example:4318/v1/traces'],
    ['https://collector.example/otlp', 'https://collector.example/otlp/v1/traces'],
  ])('sends to /v1/traces below %s', (endpoint, url) => {
    expect(traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toMatchObject({ url, headers: {} });
  });

  it('takes the endpoint of traces as it is, before the general one', () => {
    const env = { ...base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/in' };
    expect(traceSettings(env)).toMatchObject({ url: 'https://traces.example/in', serviceName: 'portolan' });
  });

  it('takes name and headers; those of traces win', () => {
    const env = {
      ...base,
      OTEL_SERVICE_NAME: 'scanner-eu',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20a%3Db, x-team=net',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-team=sec',
    };
    expect(traceSettings(env)).toMatchObject({
      serviceName: 'scanner-eu',
      headers: { authorization: 'Bearer a=b', 'x-team': 'sec' },
    });
  });

  it.each([
    ['a URL of another kind', { OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://s3cret.example' }],
    ['no URL', { OTEL_EXPORTER_OTLP_ENDPOINT: 's3cret' }],
    ['credentials in the URL', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:s3cret@collector.example' }],
    ['gRPC', { ...base, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    ['a header without value', { ...base, OTEL_EXPORTER_OTLP_HEADERS: 's3cret' }],
    ['a header with a line break', { ...base, OTEL_EXPORTER_OTLP_HEADERS: 'x=s3cret%0D%0Ay' }],
    ['a malformed escape', { ...base, OTEL_EXPORTER_OTLP_HEADERS: 'x=s3cret%zz' }],
  ])('names %s as the problem, without its value', (_what, env) => {
    const settings = traceSettings(env);
    expect(settings).toEqual({ problem: expect.stringMatching(/^OTEL_EXPORTER_OTLP_/) });
    expect(JSON.stringify(settings)).not.toContain('s3cret');
  });
});
