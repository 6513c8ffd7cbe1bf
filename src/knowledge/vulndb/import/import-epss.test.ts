import { describe, expect, it } from 'vitest';
import { epssFeed } from '../fixtures/feeds.ts';
import { readEpss } from './import-epss.ts';

async function* pieces(text: string, size = 5): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

describe('readEpss', () => {
  it('reads rows and the date of the scores', async () => {
    const text = epssFeed([
      ['CVE-2021-44228', 0.94358, 0.99999],
      ['CVE-2026-1000', 0.00042, 0.12],
    ]);
    expect(await readEpss(pieces(text))).toEqual({
      scores: [
        { id: 'CVE-2021-44228', score: 0.94358, percentile: 0.99999 },
        { id: 'CVE-2026-1000', score: 0.00042, percentile: 0.12 },
      ],
      date: '2026-11-20',
      refused: 0,
      reasons: [],
    });
  });

  it('counts the percentiles where their column is missing', async () => {
    const { scores } = await readEpss(
      pieces('cve,epss\nCVE-2021-1000,0.5\r\nCVE-2021-1001,0.1\nCVE-2021-1002,0.5\nCVE-2021-1003,0.9'),
    );
    expect(scores.map(({ percentile }) => percentile)).toEqual([0.75, 0.25, 0.75, 1]);
  });

  it('leaves out rows that are none, and counts them', async () => {
    const text =
      'cve,epss,percentile\nCVE-2021-1000,0.5,0.5\nCVE-2021-1001,1.5,0.5\nCVE-2021-1002,x,0.5\n=cmd(),0.5,0.5\n';
    const feed = await readEpss(pieces(text));
    expect([feed.scores.length, feed.refused, feed.reasons[0]]).toEqual([1, 3, 'line 3 is not an EPSS row']);
  });

  it('stops at a line without an end', async () => {
    await expect(readEpss(pieces('x'.repeat(2000), 100))).rejects.toThrow('more than 512 characters');
  });
});
