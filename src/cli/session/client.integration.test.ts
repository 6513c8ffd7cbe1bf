import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { PortolanError } from '../../domain/errors.ts';
import { Client, checkServerUrl, errorOf } from './client.ts';
import { anything } from './response-shape.ts';

let server: Server | null = null;

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function failureOf(work: Promise<unknown>): Promise<PortolanError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PortolanError);
  return error as PortolanError;
}

describe('a refusal', () => {
  const refuse = (status: number, code: string, details: object): RequestListener => {
    const body = JSON.stringify({ error: { code, message: 'Refused.', details } });
    return (_request, response) => response.writeHead(status).end(body);
  };

  it('for want of a token tells where tokens go, and one of a bad token does not repeat it', async () => {
    const url = await serve(refuse(401, 'unauthorized', {}));
    const without = await failureOf(new Client({ url, token: null }).call('GET', '/', anything));
    expect(without.details['try']).toContain('SERVICE_API_TOKEN or --api-token');
    const bad = await failureOf(new Client({ url, token: 'svc_abcdef_secret' }).call('GET', '/', anything));
    expect(bad.message).toMatch(/^invalid token \(from --api-token\) for http/);
    expect(bad.message).not.toContain('secret');
    expect([without.exitCode, bad.exitCode]).toEqual([5, 5]);
  });

  it('for want of a tenant tells where it goes', async () => {
    const url = await serve(
      refuse(400, 'invalid_request', { fields: [{ field: 'X-Tenant-ID', reason: 'is missing' }] }),
    );
    const missing = await failureOf(
      new Client({ url, token: null, tenant: null }).call('GET', '/', anything),
    );
    expect(missing.message).toBe('Refused. Set the tenant in SERVICE_TENANT_ID.');
    const named = await failureOf(new Client({ url, token: null, tenant: 'a b' }).call('GET', '/', anything));
    expect(named.message).toBe('Refused.');
  });
});

describe('errorOf', () => {
  it.each([
    [400, 'invalid_request', 2],
    [401, 'unauthorized', 5],
    [403, 'insufficient_scope', 5],
    [404, 'not_found', 1],
    [429, 'rate_limited', 1],
    [503, 'queue_full', 1],
    [504, 'timeout', 6],
    [507, 'insufficient_storage', 1],
  ] as const)('keeps the code that the server sent (%i %s -> exit %i)', (status, code, exit) => {
    const error = errorOf(status, JSON.stringify({ error: { code, message: 'said so', details: { a: 1 } } }));
    expect([error.code, error.message, error.exitCode, error.details]).toEqual([
      code,
      'said so',
      exit,
      { a: 1 },
    ]);
  });

  it.each([
    [400, 2],
    [401, 5],
    [403, 5],
    [404, 1],
    [500, 1],
    [502, 1],
  ])('goes by the status %i when the answer says nothing', (status, exit) => {
    for (const body of [
      '',
      '<html>',
      '{}',
      '{"error":{"code":7}}',
      '{"error":{"code":"toString","message":"x"}}',
    ]) {
      expect(errorOf(status, body).exitCode).toBe(exit);
    }
  });
});

describe('Client', () => {
  it('sends the token and gives the data', async () => {
    const url = await serve((request, response) => {
      response.end(JSON.stringify({ data: { token: request.headers.authorization, url: request.url } }));
    });
    const client = new Client({ url: `${url}/api/v1/`, token: 'svc_x' });
    expect(await client.call('GET', '/api/v1/scans', anything)).toEqual({
      token: 'Bearer svc_x',
      url: '/api/v1/scans',
    });
  });

  it('reports a closed port as a network failure (exit 4)', async () => {
    const url = await serve(() => undefined);
    server?.close();
    server?.closeAllConnections();
    const error = await failureOf(new Client({ url, token: null }).call('GET', '/', anything));
    expect([error.code, error.exitCode]).toEqual(['network', 4]);
    expect(error.message).toMatch(/^no connection to http.*: refused$/);
  });

  it('reports a connection that breaks off in a download', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"data":');
      setTimeout(() => response.destroy(), 20);
    });
    const client = new Client({ url, token: null });
    const read = async () => collect(await client.download('/results'));
    expect((await failureOf(read())).code).toBe('network');
  });

  it('follows no redirect with the token', async () => {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      seen.push(request.url ?? '');
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await failureOf(new Client({ url, token: 'svc_x' }).call('GET', '/start', anything));
    expect(seen).toEqual(['/start']);
  });

  it('reports an answer that is not the API', async () => {
    const url = await serve((_request, response) => void response.end('<html>hello</html>'));
    expect((await failureOf(new Client({ url, token: null }).call('GET', '/', anything))).code).toBe(
      'network',
    );
  });

  it('reads health of an unhealthy server', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(503).end(JSON.stringify({ status: 'unhealthy', data: { status: 'unhealthy' } }));
    });
    expect(await new Client({ url, token: null }).health(anything)).toEqual({ status: 'unhealthy' });
  });

  it('reads events', async () => {
    const url = await serve((request, response) => {
      response.write(`id: 7\nevent: status\ndata: ${request.headers['last-event-id']}\n\n`);
      response.end();
    });
    const events = await new Client({ url, token: null }).events('/events', '6', AbortSignal.timeout(5000));
    expect(await collect(events)).toEqual([{ id: '7', event: 'status', data: '6' }]);
  });
});

describe('checkServerUrl', () => {
  it.each([
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://127.0.0.1:8080/api/v1/', 'http://127.0.0.1:8080'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['https://host.example/portolan/', 'https://host.example/portolan'],
  ])('%s', (text, url) => {
    expect(checkServerUrl(text)).toBe(url);
  });

  it.each(['', 'ftp://host', 'http://', 'http://user:secret@host', 'http://host?token=x'])(
    'refuses %j',
    (text) => {
      expect(() => checkServerUrl(text)).toThrow(PortolanError);
    },
  );
});
