import { expect, it } from 'vitest';
import { scanEnvironment } from './scan-processes.ts';

it('a scan process gets nothing of the environment that may be a secret', () => {
  const needed = {
    PATH: '/bin',
    LD_LIBRARY_PATH: '/lib',
    HOME: '/home/a',
    LC_ALL: 'C',
    TMPDIR: '/tmp',
    NODE_COMPILE_CACHE: '/c',
    XDG_CONFIG_HOME: '/x',
  };
  const secret = {
    SERVICE_QUEUE__URL: 'postgres://a:b@c/d',
    SERVICE_VULNDB__NVD_API_KEY: 'x',
    SERVICE_API_TOKEN: 'x',
    SMTP_PASS: 'x',
    PGPASSWORD: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    OTEL_EXPORTER_OTLP_HEADERS: 'x',
    MY_PATH: 'x',
  };
  expect(scanEnvironment({ ...secret, ...needed })).toEqual(needed);
});
