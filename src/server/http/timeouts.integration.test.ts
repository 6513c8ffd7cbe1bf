import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { PortolanError } from '../../domain/errors.ts';
import { openService, type Service } from '../fixtures/service.ts';
import type { App } from './app-type.ts';
import { sendError } from './errors.ts';
import { abortSignal, ResponseDeadline } from './response-deadline.ts';
import { handlerTimeoutMs } from './routes.ts';

let service: Service;
afterEach(() => service?.close());

describe('the deadlines of a connection', () => {
  it('are 30 s for the headers, 60 s for the request, 75 s idle, 120 s without a byte', async () => {
    service = await openService();
    const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = service.app.server;
    expect({ headersTimeout, requestTimeout, keepAliveTimeout, timeout }).toEqual({
      headersTimeout: 30_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 75_000,
      timeout: 120_000,
    });
  });

  it.each([
    ['headers that trickle in', 'headersTimeout', 'GET /health HTTP/1.1\r\nHost: localhost\r\n'],
    [
      'a body that trickles in',
      'requestTimeout',
      'POST /api/v1/scans HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{',
    ],
  ] as const)('end %s with a response', async (_case, deadline, begin) => {
    service = await openService();
    const { hostname, port } = new URL(await service.listen());
    const { server } = service.app as unknown as { server: Server };
    // Shorter than in production; checked once a second.
    server.headersTimeout = 500;
    server[deadline] = 500;
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    let response = '';
    socket.on('data', (chunk) => (response += chunk));
    socket.write(begin);
    const drip = setInterval(() => socket.write('x'), 100);
    await once(socket, 'close');
    clearInterval(drip);
    expect(response).toMatch(/^HTTP\/1.1 400 [\s\S]*Timeout while receiving the request/);
  });
});

describe('responses with Retry-After', () => {
  async function responseTo(error: unknown) {
    const app = Fastify();
    app.setErrorHandler((cause, request, reply) => sendError(cause, request, reply));
    app.get('/', async () => {
      throw error;
    });
    const response = await app.inject({ url: '/' });
    await app.close();
    return response;
  }

  it.each([
    ['queue_full', 503, {}],
    ['unavailable', 503, {}],
    ['timeout', 504, { index_share: 0.42 }],
  ] as const)('%s says when', async (code, status, details) => {
    const { statusCode, headers, body } = await responseTo(new PortolanError(code, 'x', details));
    expect([statusCode, Number(headers['retry-after']) >= 1]).toEqual([status, true]);
    expect(JSON.parse(body).error.details).toMatchObject(details);
  });

  it('other timeouts do not say when', async () => {
    const { headers } = await responseTo(new PortolanError('timeout', 'x'));
    expect(headers['retry-after']).toBeUndefined();
  });
});

describe('a handler that takes too long', () => {
  /** Makes a request; a handler that awaits `responded` ends after the client has its response. */
  const slow = async (register: (app: App, responded: Promise<string>) => void) => {
    const { promise: responded, resolve: end } = Promise.withResolvers<string>();
    const app = Fastify() as unknown as App;
    app.setErrorHandler((cause, request, reply) => sendError(cause, request, reply));
    register(app, responded);
    const { statusCode, body } = await app.inject({ url: '/' });
    end('late');
    await app.close();
    return { statusCode, body };
  };

  it('gets a 504', async () => {
    const { statusCode, body } = await slow((app, responded) => {
      new ResponseDeadline(50).addHooks(app);
      app.get('/', { config: { access: 'open' } }, () => responded);
    });
    expect([statusCode, JSON.parse(body).error.code]).toEqual([504, 'timeout']);
  });

  it('does not log what comes after it', async () => {
    const lines: string[] = [];
    const stream = { write: (line: string) => void lines.push(line) };
    const app = Fastify({ logger: { level: 'warn', stream } }) as unknown as App;
    app.setErrorHandler((cause, request, reply) => sendError(cause, request, reply));
    new ResponseDeadline(50).addHooks(app);
    const responded = Promise.withResolvers<string>();
    app.get('/', { config: { access: 'open' } }, () => responded.promise);
    expect(await app.inject({ url: '/' })).toMatchObject({ statusCode: 504 });
    responded.resolve('late');
    await app.close();
    expect(lines).toEqual([]);
  });

  it('is aborted', async () => {
    let signal: AbortSignal | undefined;
    const { statusCode, body } = await slow((app, responded) => {
      new ResponseDeadline(50).addHooks(app);
      app.get('/', { config: { access: 'open' } }, (request) => {
        signal = abortSignal(request);
        return responded;
      });
    });
    expect([statusCode, JSON.parse(body).error.code, signal?.aborted]).toEqual([504, 'timeout', true]);
  });

  it('is aborted when the client is gone, not when its body of several chunks has been read', async () => {
    const app = Fastify({ bodyLimit: 2 ** 20 }) as unknown as App;
    new ResponseDeadline(60_000).addHooks(app);
    const atStart: boolean[] = [];
    const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
    app.post('/', { config: { access: 'open' } }, async (request) => {
      const signal = abortSignal(request);
      // The events of the request come after the handler has begun.
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      atStart.push(signal.aborted);
      if (atStart.length === 1) return 'read';
      signal.addEventListener('abort', () => leave());
      client.abort();
      await gone;
      return 'unread';
    });
    const base = await app.listen({ host: '127.0.0.1', port: 0 });
    const client = new AbortController();
    const post = (signal?: AbortSignal) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify('x'.repeat(500_000));
      return fetch(base, { method: 'POST', headers, body, ...(signal && { signal }) });
    };
    try {
      expect(await (await post()).text()).toBe('read');
      await expect(post(client.signal)).rejects.toThrow('aborted');
      await gone;
    } finally {
      await app.close();
    }
    expect(atStart).toEqual([false, false]);
  });

  it('may stream for as long as it takes', async () => {
    let now = 0;
    const deadline = new ResponseDeadline(50, () => now);
    const { statusCode } = await slow((app) => {
      deadline.addHooks(app);
      app.get('/', { config: { access: 'open', streams: true } }, async () => {
        now += 3_600_000;
        deadline.look();
        return 'all';
      });
    });
    expect(statusCode).toBe(200);
  });

  it('is 30 s in production and is cleared by the response', async () => {
    expect(handlerTimeoutMs).toBe(30_000);
    let now = 0;
    const deadline = new ResponseDeadline(handlerTimeoutMs, () => now);
    const { statusCode } = await slow((app) => {
      deadline.addHooks(app);
      app.get('/', { config: { access: 'open' } }, async () => {
        now += handlerTimeoutMs - 1;
        deadline.look();
        return 'in time';
      });
    });
    now += handlerTimeoutMs;
    expect(() => deadline.look()).not.toThrow();
    expect(statusCode).toBe(200);
  });
});
