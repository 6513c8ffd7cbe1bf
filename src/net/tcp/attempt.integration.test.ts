import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PauseGate } from '../gate/pause-gate.ts';
import { attempt } from './attempt.ts';

/** Scans of 127.0.0.1 by others do not reach it. */
const host = '127.0.31.1';

/** Listens with a short queue and says on which port. */
const program = `const server = require('node:net').createServer();
server.listen({ host: '${host}', port: 0, backlog: 1 }, () => console.log(server.address().port));`;

let silent: ChildProcess;
let port: number;
const fillers: Socket[] = [];

/** A stopped program accepts no connection: once its queue is full, the kernel drops every SYN. */
beforeAll(async () => {
  silent = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(silent.stdout as NonNullable<typeof silent.stdout>, 'data')) as [Buffer];
  port = Number(said.toString());
  silent.kill('SIGSTOP');
  for (let count = 0; count < 4; count++) {
    fillers.push(connect({ host, port }).on('error', () => undefined));
    await sleep(50);
  }
});
afterAll(() => {
  for (const socket of fillers) socket.destroy();
  silent.kill('SIGKILL');
});

/** Connection attempts of this machine to the port for which the kernel repeats its SYN. */
function attemptsUnderWay(): number {
  // Bytes in the order of this machine, see proc(5).
  const remote = `011F007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const fillersUnderWay = new Set(fillers.map((socket) => socket.localPort));
  return lines.filter((line) => {
    const [, local = '', to, state] = line.trim().split(/\s+/);
    const localPort = Number.parseInt(local.split(':')[1] ?? '', 16);
    return to === remote && state === '02' && !fillersUnderWay.has(localPort);
  }).length;
}

it('gives up a patient attempt while the door is held, and makes it anew with its whole time', async () => {
  // Those of a test that was broken off end by themselves.
  await expect.poll(attemptsUnderWay).toBe(0);
  const door = new PauseGate();
  let tokens = 0;
  const again = async () => {
    tokens += 1;
    return true;
  };
  const { signal } = new AbortController();
  const options = {
    timeoutMs: 1200,
    synMs: 1200,
    signal,
    again,
    onRepeat: () => undefined,
    door,
    egress: null,
  };
  const outcome = attempt(host, port, options);
  await expect.poll(attemptsUnderWay).toBe(1);
  door.hold();
  await expect.poll(attemptsUnderWay).toBe(0);
  await sleep(1300);
  expect(tokens).toBe(0);
  door.release();
  await expect.poll(() => [attemptsUnderWay(), tokens]).toEqual([1, 1]);
  expect(await outcome).toMatchObject({ failure: { state: 'filtered', reason: 'no-response' } });
});

it('waits once for what this machine lacks, not for each attempt', async () => {
  // An address that this machine does not have.
  const bytes = Uint8Array.of(192, 0, 2, 77);
  const source = { bytes, scopeId: 0, text: '192.0.2.77' };
  const egress = { family: 4 as const, device: '', source, deviceSource: null, port: 0 };
  const { signal } = new AbortController();
  const options = { egress, timeoutMs: 900, synMs: 900, signal, door: new PauseGate() };
  const reasons: string[] = [];
  // Each of them by itself would wait for 5 s.
  for (let count = 0; count < 100; count++) {
    const ended = await attempt(host, port, {
      ...options,
      again: async () => true,
      onRepeat: () => undefined,
    });
    if ('failure' in ended) reasons.push(`${ended.failure.state}: ${ended.failure.reason}`);
  }
  expect(reasons).toEqual(Array(100).fill('not_tried: local error EADDRNOTAVAIL'));
}, 120_000);
