import { expect, it } from 'vitest';
import { originOf, requestId } from './request-id.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

it('a scan remembers the request that submits it, and the span that it came from', () => {
  expect(originOf('req_1', { traceparent })).toEqual({ requestId: 'req_1', traceparent });
  expect(originOf('req_1', { traceparent: 'nonsense' })).toEqual({ requestId: 'req_1', traceparent: null });
  expect(originOf('req_1', {})).toEqual({ requestId: 'req_1', traceparent: null });
});

it('a request id that a client made of its token is not stored with a scan, nor sent to receivers', () => {
  const token = `svc_abc123_${'x'.repeat(43)}`;
  const id = requestId({ headers: { 'x-request-id': token } });
  expect(originOf(id, {}).requestId).not.toContain('x'.repeat(10));
  expect(originOf(id, {}).requestId).toMatch(/^[!-~]+$/);
});
