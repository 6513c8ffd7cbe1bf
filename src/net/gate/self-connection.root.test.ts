import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { canMakeNamespaces, Namespace } from '../packets/fixtures/namespace.ts';

const script = fileURLToPath(new URL('../fixtures/probe-own-ports.ts', import.meta.url));

describe.skipIf(!canMakeNamespaces)('a connection of a probe to itself', () => {
  // In a namespace of its own: elsewhere another test may listen on one of the ports for a moment.
  it('is not reported as an open port', async () => {
    const alone = new Namespace();
    try {
      const count = 4000;
      expect(await alone.run<Record<string, number>>(script, { first: 40_000, count })).toEqual({
        closed: count,
      });
    } finally {
      alone.close();
    }
  });
});
