import { describe, expect, it } from 'vitest';
import { permitsRaw, raiseRawRight } from './raise-right.ts';

/** @returns the effective set that was requested; null if none was */
function raised(effective: number, permitted: number, outcome = 0): number | null {
  let asked: number | null = null;
  raiseRawRight({
    capget: (_header, data) => {
      (data as Buffer).writeUInt32LE(effective, 0);
      (data as Buffer).writeUInt32LE(permitted, 4);
      return outcome;
    },
    capset: (_header, data) => {
      asked = (data as Buffer).readUInt32LE(0);
      return 0;
    },
  });
  return asked;
}

describe('CAP_NET_RAW of a thread', () => {
  it('is made effective where it is permitted, beside what is effective', () => {
    expect(raised(0, 0x2000)).toBe(0x2000);
    expect(raised(0x8000_0001, 0x8000_2001)).toBe(0x8000_2001);
  });

  it('is left alone where it is effective, not permitted or unknown', () => {
    expect(raised(0x2000, 0x2000)).toBeNull();
    expect(raised(0, 0xdfff)).toBeNull();
    expect(raised(0, 0x2000, -1)).toBeNull();
  });
});

it.each([
  ['CapInh:\t0000000000000000\nCapPrm:\t0000000000002000\nCapEff:\t0000000000000000\n', true],
  ['CapPrm:\t000001ffffffffff\n', true],
  ['CapPrm:\t0000000000000000\nCapEff:\t0000000000002000\n', false],
  ['', false],
])('/proc/self/status %j permits raw packets: %s', (status, permits) => {
  expect(permitsRaw(status)).toBe(permits);
});
