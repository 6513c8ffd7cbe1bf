import { describe, expect, it } from 'vitest';
import { bounds, limitedTo, probeTarget, responding, silentAbove } from './fixtures/probed-target.ts';
import { AdaptiveRate, isShort, type Round, UsualShare } from './rate.ts';

/** Judges rounds of full use, one after another; the clock stands at the end of each. */
function judged(answers: (sent: number, rate: number) => number, count: number) {
  let now = 0;
  const usual = new UsualShare();
  const rate = new AdaptiveRate(bounds, () => now);
  const verdicts = Array.from({ length: count }, () => {
    const sent = rate.rate / 10;
    const round: Round = {
      sent,
      responses: answers(sent, rate.rate),
      usual: usual.usual,
      beganAt: now,
      ms: 100,
    };
    now += 100;
    return rate.judge(round, usual);
  });
  return { verdicts, rate };
}

describe('an adaptive rate', () => {
  it('doubles while responses keep coming, up to the most', () => {
    const { verdicts, rate } = judged((sent) => sent, 8);
    expect(verdicts).toEqual([...Array(7).fill('grown'), 'kept']);
    expect([rate.rate, rate.highest, rate.lowest, rate.shortAt]).toEqual([100_000, 100_000, 1000, null]);
  });

  it('stays where it is while nothing responds, or hardly anything', () => {
    expect(judged(() => 0, 100).rate.rate).toBe(1000);
    expect(judged(() => 3, 100).rate.rate).toBe(1000);
  });

  it('stays where it is while it is not used', () => {
    const usual = new UsualShare();
    const rate = new AdaptiveRate(bounds, () => 0);
    const round = { sent: 40, responses: 40, usual: null, beganAt: 0, ms: 100 };
    expect([rate.judge(round, usual), rate.rate]).toEqual(['kept', 1000]);
  });

  it('grows where others use the rest of it', () => {
    const rate = new AdaptiveRate(bounds, () => 0);
    rate.isContended = () => true;
    const round = { sent: 40, responses: 40, usual: null, beganAt: 0, ms: 100 };
    expect([rate.judge(round, new UsualShare()), rate.rate]).toEqual(['grown', 2000]);
  });

  it('halves at once, then doubles to what worked, and grows slowly from there', () => {
    const { verdicts, rate } = judged((sent, now) => (now > 6000 ? sent * 0.7 : sent), 9);
    expect(verdicts.slice(0, 4)).toEqual(['grown', 'grown', 'grown', 'slowed']);
    // Half of 8000, and then 0.9 x 0.7 x 8000 at once.
    expect([rate.shortAt, rate.lowest, rate.highest]).toEqual([8000, 1000, 8000]);
    expect(rate.rate).toBeGreaterThan(5040 * 0.5);
    expect(rate.rate).toBeLessThan(5300);
  });

  it('does not judge what was sent before it was slowed', () => {
    let now = 1000;
    const usual = new UsualShare();
    usual.learn(1000, 1000);
    const rate = new AdaptiveRate({ ...bounds, start: 8000 }, () => now);
    const lost = { sent: 800, responses: 0, usual: usual.usual, ms: 100 };
    expect(rate.judge({ ...lost, beganAt: 800 }, usual)).toBe('slowed');
    now += 100;
    expect(rate.judge({ ...lost, beganAt: 900 }, usual)).toBe('kept');
    expect(rate.rate).toBe(2000);
  });

  it('halves for trouble of this machine, once for what comes together', () => {
    let now = 0;
    const rate = new AdaptiveRate({ ...bounds, start: 8000 }, () => now);
    expect([rate.trouble(), rate.trouble(), rate.rate]).toEqual(['slowed', 'kept', 4000]);
    now = 500;
    expect([rate.trouble(), rate.rate]).toEqual(['slowed', 2000]);
  });

  it('is an eighth while responses are overdue, and whole again when they came', () => {
    const rate = new AdaptiveRate({ ...bounds, start: 8000 }, () => 0);
    const rates: number[] = [];
    rate.onChange = (perSecond) => rates.push(perSecond);
    for (const isInDoubt of [false, true, true, false]) rate.doubt(isInDoubt);
    expect(rates).toEqual([1000, 8000]);
    expect([rate.highest, rate.lowest, rate.shortAt]).toEqual([8000, 8000, null]);
  });

  it('never leaves its bounds', () => {
    const rate = new AdaptiveRate({ start: 1000, least: 100, most: 50 });
    expect([rate.rate, rate.trouble(), rate.rate]).toEqual([50, 'slowed', 50]);
  });
});

describe('a shortage', () => {
  it('is more than chance, and more than a tenth', () => {
    const usual = { share: 0.5, probes: 10_000 };
    expect(isShort(100, 40, usual)).toBe(false);
    expect(isShort(100, 30, usual)).toBe(true);
    expect(isShort(10_000, 4600, usual)).toBe(false);
    expect(isShort(10_000, 4400, usual)).toBe(true);
  });

  it('is doubtful where little is known', () => {
    expect(isShort(1000, 30, { share: 0.05, probes: 100_000 })).toBe(false);
    expect(isShort(1000, 20, { share: 0.05, probes: 100_000 })).toBe(true);
    expect(isShort(1000, 20, { share: 0.05, probes: 400 })).toBe(false);
  });
});

describe('the usual share', () => {
  it('is learned anew from a round that shows what others had lost', () => {
    const usual = new UsualShare();
    usual.learn(1000, 500);
    usual.learn(1000, 520);
    expect(usual.usual).toEqual({ share: 0.51, probes: 2000 });
    usual.learn(1000, 1000);
    expect(usual.usual).toEqual({ share: 1, probes: 1000 });
  });
});

describe('a target', () => {
  it.each([1, 0.5, 0.2, 0.05])('that responds to %d of the probes gets the most', (share) => {
    const { rate } = probeTarget(responding(share), 5);
    expect([rate.rate, rate.shortAt]).toEqual([bounds.most, null]);
  });

  it('of which a round trip takes 300 ms does too', () => {
    const { rate } = probeTarget(() => true, 3, 300);
    expect([rate.rate, rate.shortAt]).toEqual([bounds.most, null]);
  });

  it('that stays silent gets no more than at first', () => {
    expect(probeTarget(() => false, 5).probes).toBe(5000);
  });

  it('that sends 25 resets a second is not driven', () => {
    // The first ones come at once, or they do not.
    expect(probeTarget(limitedTo(25, 25), 20).rate.highest).toBeLessThanOrEqual(2000);
    expect(probeTarget(limitedTo(25, 25), 20).probes).toBeLessThan(20 * 200);
    const even = probeTarget(limitedTo(25, 1), 40);
    expect(even.rate.highest).toBeLessThanOrEqual(2000);
    expect(even.probes).toBeLessThan(40 * 1500);
  });

  it.each([200, 2000, 20_000])('behind a limit of %d a second gets about that', (perSecond) => {
    const { probes, responses } = probeTarget(limitedTo(perSecond, Math.max(40, perSecond / 50)), 20);
    expect(responses).toBeGreaterThan(20 * perSecond * 0.8);
    expect(probes).toBeLessThan(responses * 1.5);
  });

  it.each([0.05, 0.5])('that falls silent above 5000 a second for %d s gets less', (seconds) => {
    const { probes, responses, silentMs, rate } = probeTarget(silentAbove(5000, seconds), 20);
    expect(silentMs).toBeLessThan(1000);
    expect(probes).toBeLessThan(responses * 1.1);
    expect(responses).toBeGreaterThan(20 * 1000);
    expect(rate.shortAt).not.toBeNull();
  });

  it('that falls silent at the most loses a round, not all that is sent until the silence is certain', () => {
    const { probes, responses, rate } = probeTarget((second) => second < 1, 1.15);
    expect(rate.highest).toBe(bounds.most);
    expect(probes - responses).toBeLessThan(bounds.most * 0.07);
  });

  it('that falls silent for good gets as much as at first again: the rate was not the reason', () => {
    const { rate, rates } = probeTarget((second) => second < 1, 10);
    expect(Math.min(...rates)).toBe(bounds.least);
    expect(rate.rate).toBe(1000);
  });

  it('that is back after a while gets more again', () => {
    const { rate } = probeTarget((second) => second < 1 || second > 2, 12);
    expect(rate.rate).toBeGreaterThan(10_000);
  });
});
