import { expect, it } from 'vitest';
import { packed, unpacked } from './packed-progress.ts';

it.each([
  {},
  { late: Uint32Array.of(2, 5) },
  { late: Uint32Array.of(2, 5), silent: Uint8Array.of(1, 2, 0, 0) },
])('keeps in a checkpoint which hosts drop probes: %o', (more) => {
  const two = () => Uint32Array.of(7, 9);
  const counts = { probed: new Uint32Array(2), open: two(), closed: two(), rejected: two(), unsent: two() };
  const state = { counter: 300, settled: Uint8Array.of(255, 1, 0, 0), counts, ...more };
  const part = { hosts: ['192.0.2.1', '192.0.2.2'], key: [1, 2], state };
  const kept = JSON.parse(JSON.stringify(packed(part))) as ReturnType<typeof packed>;
  expect(unpacked(kept)).toEqual(part);
});
