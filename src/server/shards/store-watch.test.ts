import { expect, it } from 'vitest';
import { StoreWatch } from './store-watch.ts';

function watch() {
  const lines: string[] = [];
  const log = {
    info: (message: string) => lines.push(message),
    warn: (_fields: object, message: string) => lines.push(message),
  };
  const state = { now: 0, answer: async () => {} };
  const watching = new StoreWatch(
    () => state.answer(),
    log as never,
    () => state.now,
  );
  return { watching, state, lines };
}

it('a store with errors is unreachable until it responds, and the log says so once', async () => {
  const { watching, state, lines } = watch();
  expect(watching.reachable).toBe(true);
  state.answer = () => Promise.reject(new Error('gone'));
  for (let times = 0; times < 3; times++) await watching.look();
  expect(watching.reachable).toBe(false);
  state.answer = async () => {};
  for (let times = 0; times < 3; times++) await watching.look();
  expect(watching.reachable).toBe(true);
  expect(lines).toEqual(['store unreachable, retrying', 'store reachable again']);
});

it('a silent store is unreachable and gets one query at a time', async () => {
  const { watching, state } = watch();
  let asked = 0;
  let answer = () => {};
  state.answer = () => {
    asked++;
    return new Promise((resolve) => (answer = resolve));
  };
  const first = watching.look();
  state.now = 9000;
  await watching.look();
  expect([watching.reachable, asked]).toEqual([true, 1]);
  state.now = 11_000;
  expect(watching.reachable).toBe(false);
  answer();
  await first;
  expect(watching.reachable).toBe(true);
});
