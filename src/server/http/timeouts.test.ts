import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { PortolanError } from '../../domain/errors.ts';
import { openService, type Service } from '../fixtures/service.ts';
import { sendError } from './errors.ts';

let service: Service;
afterEach(() => service?.close());

describe('the deadlines of a connection (T-035)', () => {
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
  ] as const)('end %s with an answer', async (_case, deadline, begin) => {
    service = await openService();
    const { hostname, port } = new URL(await service.listen());
    const { server } = service.app as unknown as { server: Server };
    // Shorter than in earnest; looked at once a second.
    server.headersTimeout = 500;
    server[deadline] = 500;
    const begun = performance.now();
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk));
    socket.write(begin);
    const drip = setInterval(() => socket.write('x'), 100);
    await once(socket, 'close');
    clearInterval(drip);
    expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*The request came too slowly/);
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});

describe('answers that ask to come again later', () => {
  async function answerTo(error: unknown) {
    const app = Fastify();
    app.setErrorHandler((cause, request, reply) => sendError(cause, request, reply));
    app.get('/', async () => {
      throw error;
    });
    const answer = await app.inject({ url: '/' });
    await app.close();
    return answer;
  }

  it.each([
    ['queue_full', 503],
    ['unavailable', 503],
  ] as const)('%s says when', async (code, status) => {
    const { statusCode, headers } = await answerTo(new PortolanError(code, 'x'));
    expect([statusCode, Number(headers['retry-after']) >= 1]).toEqual([status, true]);
  });
});

describe('a handler that takes too long', () => {
  it('is answered with 504', async () => {
    const app = Fastify();
    app.setErrorHandler((cause, request, reply) => sendError(cause, request, reply));
    app.get('/', { handlerTimeout: 50 }, async () => {
      await sleep(2000);
      return 'late';
    });
    const begun = performance.now();
    const { statusCode, body } = await app.inject({ url: '/' });
    expect(performance.now() - begun).toBeLessThan(1500);
    expect([statusCode, JSON.parse(body).error.code]).toEqual([504, 'timeout']);
    await app.close();
  });

  it('is one on every route that does not stream', async () => {
    service = await openService();
    const limits: Record<string, number | undefined> = {};
    const { completeRoute } = await import('./routes.ts');
    for (const streams of [false, true]) {
      const route = {
        method: 'GET',
        url: '/',
        handler: () => '',
        config: { access: 'any' as const, streams },
      };
      completeRoute(route as never);
      limits[String(streams)] = (route as { handlerTimeout?: number }).handlerTimeout;
    }
    expect(limits).toEqual({ false: 30_000, true: undefined });
  });
});
