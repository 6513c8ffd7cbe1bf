import { describe, expect, it } from 'vitest';
import { positionAround, positionText, readFollowedScans, readPosition } from './stream-position.ts';

const one = '20261006-143022-a1b2c3';
const two = '20261006-143022-a1b2c4';

describe('the position of a stream', () => {
  it('is read back as it was written', () => {
    const position = {
      epoch: '0123456789ab',
      sequence: 17,
      rows: new Map([
        [one, 5],
        [two, 0],
      ]),
    };
    expect(positionText(position)).toBe(`0123456789ab.17;${one}=5;${two}=0`);
    expect(readPosition(positionText(position))).toEqual(position);
    expect(readPosition(undefined)).toBeNull();
  });

  it('is the same around the row of each scan', () => {
    const rows = new Map([
      [one, 5],
      [two, 7],
    ]);
    const position = { epoch: '0123456789ab', sequence: 17, rows };
    for (const [scanId, row] of rows) {
      const { before, behind } = positionAround(position, scanId);
      expect(`${before}${row}${behind}`).toBe(positionText(position));
    }
  });

  it.each([
    'x',
    '12',
    '0123456789ab',
    '0123456789ab.1;',
    `0123456789ab.1;${one}`,
    `0123456789ab.1;${one}=-1`,
    '0123456789ab.1;../../etc=1',
    `0123456789ab.1${`;${one}=1`.repeat(17)}`,
  ])('%s is rejected', (text) => {
    expect(() => readPosition(text)).toThrow(/Last-Event-ID must be the id of an event/);
  });
});

describe('followed scans', () => {
  it('begin at the end, at a row, or at the position', () => {
    expect(readFollowedScans([one, `${two}@7`], null)).toEqual([
      { scanId: one, from: 'end' },
      { scanId: two, from: 7 },
    ]);
    const position = { epoch: '0123456789ab', sequence: 1, rows: new Map([[two, 9]]) };
    expect(readFollowedScans([`${two}@7`, `${two}@7`], position)).toEqual([{ scanId: two, from: 9 }]);
  });

  it.each(['', 'x', '../..', `${one}@`, `${one}@-1`, `${one}@1e9`])('rejects %s', (text) => {
    expect(() => readFollowedScans([text], null)).toThrow(/scan must be the id of a scan/);
  });
});
