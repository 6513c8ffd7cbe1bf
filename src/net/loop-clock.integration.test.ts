import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LoopClock } from './loop-clock.ts';

describe('the clock of the loop', () => {
  let real = 0;
  const clock = () => new LoopClock(() => real);

  beforeEach(() => {
    real = 1000;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('runs like the real one while ticks come in time', () => {
    const loop = clock();
    const release = loop.use();
    for (let tick = 0; tick < 5; tick++) {
      real += 22;
      loop.tick();
    }
    expect(loop.now()).toBe(1110);
    expect(loop.lostMs).toBe(0);
    release();
  });

  it('stands still while a tick is late', () => {
    const loop = clock();
    const release = loop.use();
    real += 520;
    expect(loop.lostMs).toBe(495);
    expect(loop.now()).toBe(1025);
    loop.tick();
    expect(loop.now()).toBe(1025);
    real += 20;
    expect(loop.now()).toBe(1045);
    expect(loop.lostMs).toBe(495);
    release();
  });

  it('never steps back, even when it has no users left', () => {
    const loop = clock();
    const seen = [loop.now()];
    const first = loop.use();
    const second = loop.use();
    for (const step of [10, 300, 20, 1, 90]) {
      real += step;
      seen.push(loop.now());
      if (step === 20) loop.tick();
    }
    first();
    first();
    seen.push(loop.now());
    second();
    seen.push(loop.now());
    real += 5000;
    seen.push(loop.now());
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(loop.now() - (seen.at(-2) ?? 0)).toBe(5000);
  });
});

it('a deadline that comes with a stall of the loop waits until what arrived was read', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).end('in time')).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const loop = new LoopClock();
  const release = loop.use();
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const events: string[] = [];
  const over = new Promise<void>((resolve) => {
    loop.after(30, () => {
      events.push('deadline');
      resolve();
    });
  });
  socket.on('data', () => events.push('data'));
  // The loop stands still for far longer than the deadline.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  await over;
  expect(events).toEqual(['data', 'deadline']);
  socket.destroy();
  server.close();
  release();
});

it('a deadline that is taken back never comes', async () => {
  const loop = new LoopClock();
  let called = false;
  const cancel = loop.after(1, () => {
    called = true;
  });
  cancel();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(called).toBe(false);
});
