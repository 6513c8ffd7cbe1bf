import { describe, expect, it } from 'vitest';
import { HostInterval } from './send-interval.ts';

/** Probes `count` ports of a host that responds after 1 ms when `allows` permits the error; returns its time and its responses. */
function probe(pace: HostInterval, count: number, allows: (now: number) => boolean, patient = true) {
  let now = 0;
  let answered = 0;
  const waiting: { sentAt: number }[] = [];
  for (let sent = 0; sent < count; now += 1) {
    while (waiting[0] && now - waiting[0].sentAt > pace.suspiciousAfterMs) {
      waiting.shift();
      pace.stayedSilent();
    }
    if (!pace.isDue(now)) continue;
    pace.spend(now, patient);
    sent += 1;
    if (allows(now)) {
      answered += 1;
      pace.answered(1, true);
    } else waiting.push({ sentAt: now });
  }
  return { seconds: now / 1000, answered };
}

/** A token bucket: a burst of six, then one a second, as Linux limits its errors to one receiver. */
function linuxLimit() {
  let tokens = 6;
  let filledAt = 0;
  return (now: number) => {
    tokens = Math.min(6, tokens + (now - filledAt) / 1000);
    filledAt = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

describe('the pace of one host', () => {
  it('comes down to the rate at which ICMP errors arrive', () => {
    const pace = new HostInterval(200);
    const { seconds, answered } = probe(pace, 100, linuxLimit());
    expect(answered).toBeGreaterThan(75);
    expect(seconds).toBeLessThan(110);
    expect(pace.perSecond).toBeLessThan(2);
  });

  it('rises while every probe gets a response', () => {
    const pace = new HostInterval(2000);
    const { seconds } = probe(pace, 1000, () => true);
    expect(seconds).toBeLessThan(4);
    expect(pace.perSecond).toBeGreaterThan(1000);
    probe(pace, 5000, () => true);
    expect(pace.perSecond).toBe(5000);
  });

  it('stays constant for a host that never reported a closed port', () => {
    const pace = new HostInterval(200);
    expect(probe(pace, 100, () => false).seconds).toBeCloseTo(2, 0);
    expect(pace.perSecond).toBe(50);
  });

  it('lets a host of many ports end in three minutes', () => {
    const { seconds } = probe(new HostInterval(2000), 2000, linuxLimit(), false);
    expect(seconds).toBeLessThan(185);
    expect(probe(new HostInterval(131_070), 20_000, () => false, false).seconds).toBeLessThan(30);
  });
});
