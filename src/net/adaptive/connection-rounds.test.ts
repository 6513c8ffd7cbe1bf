import { describe, expect, it } from 'vitest';
import { ConnectionRounds, type ObservedAttempt } from './connection-rounds.ts';
import { bounds, limitedTo, type ProbedTarget, responding } from './fixtures/probed-target.ts';
import { AdaptiveRate } from './rate.ts';

/** Timeout of an attempt and response time, milliseconds. */
const timeoutMs = 900;
const roundTripMs = 2;

interface Host {
  name: string;
  target: ProbedTarget;
  ports: number;
}

/**
 * Connects to the ports of hosts in virtual time, as a sweep with a window of hosts does; silent ports get a retry, and three more once retries bring responses.
 * @returns the rate, each rate that it had, and what was found
 */
async function connecting(hosts: Host[], { window = 64, seconds = 60 } = {}) {
  let now = 0;
  const rate = new AdaptiveRate(bounds, () => now);
  const rounds = new ConnectionRounds(rate, () => now);
  const [left, open] = [[...hosts], hosts.splice(0, 0)];
  const coming: { at: number; end: () => void }[] = [];
  const again: { host: Host; tries: number }[] = [];
  const rates: number[] = [];
  rate.onChange = (perSecond) => rates.push(perSecond);
  let [tokens, turn, responses, attempts, late] = [0, 0, 0, 0, 0];
  const attempt = (host: Host, tries: number) => {
    const isFirst = tries === 1;
    attempts += 1;
    const responds = host.target(now / 1000);
    const { promise, resolve } = Promise.withResolvers<ObservedAttempt>();
    rounds.follow(host.name, isFirst ? 'first' : 'further', promise);
    const latencyMs = responds ? roundTripMs : timeoutMs;
    const end = () => {
      if (responds) responses += 1;
      else if (tries < (late > 0 ? 5 : 2)) again.push({ host, tries: tries + 1 });
      if (responds && !isFirst) late += 1;
      resolve({ state: responds ? 'closed' : 'filtered', latencyMs });
    };
    coming.push({ at: now + latencyMs, end });
  };
  const next = () => {
    while (open.length < window && left.length > 0) open.push({ ...(left.shift() as Host) });
    const retried = again.shift();
    if (retried) return attempt(retried.host, retried.tries);
    const host = open[turn++ % Math.max(1, open.length)];
    if (!host) return;
    attempt(host, 1);
    host.ports -= 1;
    if (host.ports === 0) open.splice(open.indexOf(host), 1);
  };
  for (
    ;
    now < seconds * 1000 && open.length + left.length + coming.length > 0 + (now === 0 ? -1 : 0);
    now++
  ) {
    tokens = Math.min(1 + rate.rate / 50, tokens + rate.rate / 1000);
    for (; tokens >= 1; tokens--) next();
    for (const { end } of coming.filter(({ at }) => at <= now)) end();
    coming.splice(0, coming.length, ...coming.filter(({ at }) => at > now));
    await Promise.resolve();
  }
  return { rate, rates, responses, attempts, ms: now };
}

const always: ProbedTarget = () => true;
const never: ProbedTarget = () => false;
const host = (name: string, target: ProbedTarget, ports: number): Host => ({ name, target, ports });
const many = (name: string, target: ProbedTarget, count: number, ports: number) =>
  Array.from({ length: count }, (_, at) => host(`${name}${at}`, target, ports));

describe('a rate that follows connection attempts', () => {
  it('doubles while one host responds', async () => {
    const { rate, responses, attempts } = await connecting([host('a', always, 30_000)]);
    expect([responses, attempts, rate.lowest]).toEqual([30_000, 30_000, 1000]);
    expect(rate.highest).toBeGreaterThan(30_000);
  });

  it('stays where it is while nothing responds', async () => {
    const { rate } = await connecting(many('silent', never, 20, 100));
    expect([rate.lowest, rate.highest]).toEqual([1000, 1000]);
  });

  it('falls back where one host takes 5,000 a second, and finds everything', async () => {
    const { rate, responses, attempts } = await connecting([host('a', limitedTo(5000, 200), 60_000)]);
    expect(responses).toBeGreaterThan(59_900);
    expect(attempts).toBeLessThan(1.3 * 60_000);
    expect(rate.highest).toBeLessThan(25_000);
  });

  it('takes hosts that are silent for no reason to go slower', async () => {
    const groups = Array.from({ length: 10 }, (_, at) => [
      ...many(`up${at}.`, always, 64, 100),
      ...many(`silent${at}.`, never, 64, 20),
    ]);
    const { rate } = await connecting(groups.flat());
    expect(rate.lowest).toBe(1000);
    expect(rate.highest).toBeGreaterThan(3000);
  });

  it('gives the last host no more than it has shown to bear', async () => {
    const { rate, rates } = await connecting([
      ...many('small', always, 63, 400),
      host('large', always, 12_000),
    ]);
    expect(rate.highest).toBeGreaterThan(10_000);
    const before = rates.findIndex((now) => now > 10_000);
    expect(Math.min(...rates.slice(before))).toBeLessThan(4000);
  });

  it('slows down for what only further attempts find', async () => {
    // They lose half from the beginning, so that none of them is ever short.
    const { rate } = await connecting(many('lossy', responding(0.5), 64, 200));
    expect(rate.lowest).toBeLessThan(1000);
  });
});
