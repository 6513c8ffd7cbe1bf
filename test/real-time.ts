import { afterAll } from 'vitest';

// Files share a process: one that leaves a fake timer or a fixed clock behind stops the tests of all that follow, and
// those fail in its place. This fails the file that did it, and restores the time for the next one.
const real = Symbol.for('portolan: time of the process');
const shared = globalThis as unknown as Record<symbol, ReturnType<typeof current>>;

const current = () => ({
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  setImmediate: globalThis.setImmediate,
  Date: globalThis.Date,
  now: performance.now,
});
shared[real] ??= current();

afterAll(() => {
  const { now, ...globals } = shared[real] as ReturnType<typeof current>;
  const found = current();
  const left = Object.entries(shared[real] ?? {}).flatMap(([name, value]) =>
    found[name as keyof typeof found] === value ? [] : [name],
  );
  if (left.length === 0) return;
  Object.assign(globalThis, globals);
  performance.now = now;
  throw new Error(`these tests leave a fake time behind: ${left.join(', ')}`);
});
