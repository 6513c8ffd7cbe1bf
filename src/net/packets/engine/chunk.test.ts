import { expect, it } from 'vitest';
import { plan } from '../fixtures/response-trial.ts';
import { buffersOf, Chunk, word } from './chunk.ts';
import { ChunkMemory } from './chunk-memory.ts';

it('a hundred chunks, one after another, share the memory of the first', () => {
  const memory = new ChunkMemory();
  const used = new Set<SharedArrayBuffer>();
  for (let id = 1; id <= 100; id++) {
    const chunk = new Chunk(plan(4, { id }), memory);
    expect([chunk.isSettled(3), chunk.counts.open[0], chunk.sentAt[3]]).toEqual([false, 0, 0]);
    chunk.settle(3);
    chunk.counts.open[0] = 1;
    chunk.sentAt[3] = 9;
    used.add(chunk.memory);
    memory.giveBack(chunk.memory);
  }
  expect(used.size).toBe(1);
});

it('chunks at the same time have memory of their own, also beside a smaller one', () => {
  const memory = new ChunkMemory();
  const small = new Chunk(plan(4, { ports: Uint16Array.of(80) }), memory);
  memory.giveBack(small.memory);
  const chunks = [1, 2].map((id) => new Chunk(plan(4, { id }), memory));
  expect(new Set([small, ...chunks].map((chunk) => chunk.memory)).size).toBe(3);
});

it('the progress of a chunk changes with its endpoints, its position and its packets', () => {
  const chunk = new Chunk(plan(4));
  const seen = [chunk.progress];
  chunk.settle(1);
  seen.push(chunk.progress);
  chunk.settle(1);
  expect(chunk.progress).toBe(seen[1]);
  for (const at of [word.counter, word.sent]) {
    Atomics.add(chunk.control, at, 1);
    seen.push(chunk.progress);
  }
  expect(new Set(seen).size).toBe(4);
});

it('a state has memory of its own in each part, which can be moved and freed', () => {
  const chunk = new Chunk(plan(4));
  const state = chunk.state();
  for (const buffer of buffersOf(state)) buffer.transfer(0);
  expect([state.settled, ...Object.values(state.counts)].map(({ length }) => length)).toEqual([
    0, 0, 0, 0, 0, 0,
  ]);
  expect(chunk.state().counts.open).toHaveLength(3);
});
