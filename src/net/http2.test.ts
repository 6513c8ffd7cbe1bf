import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Connection } from './gate/gate.ts';
import { requestHttp2 } from './http2.ts';

const frame = (type: number, payload: number[]) => [0, 0, payload.length, type, 0, 0, 0, 0, 0, ...payload];
const settings = frame(4, [0, 3, 0, 0, 0, 100]);
/** The last stream that the server will process is far ahead (RFC 9113 section 6.8). */
const goAway = frame(7, [0, 0, 0x5c, 7, 0, 0, 0, 0]);

/** A connection to a server that says some bytes, and ends. */
function connectionThatSays(bytes: number[]): Connection {
  let said = false;
  return {
    latencyMs: 1,
    truncated: false,
    tlsAlert: null,
    exchanges: [],
    async read() {
      await setImmediate();
      if (said) return { bytes: Buffer.alloc(0), end: 'closed' };
      said = true;
      return { bytes: Buffer.from(bytes), end: 'match' };
    },
    endAfter: () => undefined,
    write: async () => true,
    startTls: async () => ({ reason: 'none' }),
    examineTls: async () => ({ reason: 'none' }),
    close: () => undefined,
  };
}

it.each([
  ['nothing', []],
  ['its settings', settings],
  ['that it goes away, and more', [...settings, ...goAway, ...settings, ...goAway]],
])(
  'a server that sends %s and closes gives null at once',
  async (_what, bytes) => {
    const request = {
      secure: true,
      authority: 'a.example',
      path: '/',
      userAgent: 'x',
      idleMs: 20,
      maxBody: 100,
    };
    expect(await requestHttp2(connectionThatSays(bytes), request)).toBeNull();
  },
  2000,
);
