import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { maxWaitingLogs, threadControls, threadControlWords } from './exchange.ts';
import { ThreadCalls } from './thread-calls.ts';

function connected() {
  const { port1, port2 } = new MessageChannel();
  const control = new Int32Array(new SharedArrayBuffer(4 * threadControlWords));
  const received = () => receiveMessageOnPort(port1)?.message as unknown;
  return { calls: new ThreadCalls(port2, control), control, port: port1, received };
}

describe('calls of a thread', () => {
  it('find their replies, also those that come out of order', () => {
    const { calls, port } = connected();
    const first = calls.send({ op: 'next', key: 'banners' });
    const second = calls.send({ op: 'append', key: 'vulnerabilities', items: ['1'] });
    port.postMessage({ id: second });
    expect(calls.poll(first)).toBeNull();
    port.postMessage({ id: first });
    expect(calls.wait(first)).toEqual({ id: first });
    expect(calls.wait(second)).toEqual({ id: second });
    port.close();
  });

  it('remember the first rejection, even that of a call nobody waits for', () => {
    const { calls, port } = connected();
    const first = calls.send({ op: 'append', key: 'a', items: [] });
    port.postMessage({ id: first, error: 'no such key' });
    const second = calls.send({ op: 'append', key: 'b', items: [] });
    port.postMessage({ id: second, error: 'canceled' });
    expect(calls.poll(second)).toEqual({ id: second, error: 'canceled' });
    expect(calls.failure).toBe('no such key');
    port.close();
  });

  it('return at once when the node is canceled', () => {
    const { calls, control, port } = connected();
    Atomics.store(control, threadControls.canceled, 1);
    expect(calls.canceled).toBe(true);
    expect(calls.wait(calls.send({ op: 'next', key: 'banners' }))).toBeNull();
    port.close();
  });

  it('drop log messages while the other side is behind, and count them', () => {
    const { calls, control, port, received } = connected();
    for (let index = 0; index < maxWaitingLogs + 7; index += 1) calls.log(2, String(index));
    for (let index = 0; index < maxWaitingLogs; index += 1) {
      expect(received()).toEqual({ op: 'log', level: 2, message: String(index) });
    }
    expect(received()).toBeUndefined();
    Atomics.store(control, threadControls.logs, 0);
    calls.log(4, 'later');
    expect(received()).toMatchObject({ level: 3, message: '7 log messages dropped: too many at once' });
    expect(received()).toMatchObject({ level: 4, message: 'later' });
    port.close();
  });
});
