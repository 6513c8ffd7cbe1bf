import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import { isReset, LimitedHost, type LimitedSweep, listening } from '../../../test/limited-host.ts';
import { canMakeNamespaces } from '../../net/packets/fixtures/namespace.ts';

describe.skipIf(!canMakeNamespaces || !isInstalled('nft')).each([
  ['raw packets', 'syn_scanner'],
  ['connections', 'connect_scanner'],
] as const)('a sweep by %s at an adaptive rate', (_, module) => {
  let host: LimitedHost;
  beforeEach(() => {
    host = new LimitedHost(module);
  });
  afterEach(() => host?.close());

  const sweep = (trial: LimitedSweep, rate: number | 'auto' = 'auto') => host.sweep(trial, rate);

  /**
   * At the usual rate, and at the adaptive one: which finds as much, with at most 1.3 times the packets for what it finds. Of a
   * host that sends 25 resets a second the usual rate finds 20 closed ports; the other one may go on to retry slowly and finds
   * all 250, which takes packets. How many resets come depends on real seconds of the kernel.
   */
  async function compared(trial: LimitedSweep) {
    const [fixed, adaptive] = [await sweep(trial, 1000), await sweep(trial)];
    expect(adaptive.open).toBeGreaterThanOrEqual(fixed.open);
    const more = (adaptive.open + adaptive.closed) / (fixed.open + fixed.closed);
    expect(adaptive.probes).toBeLessThanOrEqual(1.3 * fixed.probes * Math.max(1, more));
    return adaptive;
  }

  it('speeds up while a host responds, with one probe for each port', async () => {
    const { open, closed, highest, probes } = await sweep({ ports: 10_000 });
    expect([open, open + closed, probes >= 10_000, probes < 10_500]).toEqual([50, 10_000, true, true]);
    expect(highest).toBeGreaterThan(4000);
  });

  // Learning the limit costs 2,000 to 4,500 packets, however much there is to probe.
  it('finds everything of a host that takes 5,000 a second, with less than 1.3 probes for each port', async () => {
    const arriving = ['limit rate over 5000/second burst 200 packets drop'];
    const { open, closed, probes } = await sweep({ ports: 30_000, arriving });
    expect([open, open + closed]).toEqual([50, 30_000]);
    expect(probes).toBeLessThan(1.3 * 30_000);
  });

  it('finds everything while 5 % of the probes are lost', async () => {
    const adaptive = await compared({ ports: 3000, arriving: ['numgen random mod 20 == 0 drop'] });
    expect(adaptive.open).toBe(listening);
    expect(adaptive.open + adaptive.closed).toBeGreaterThanOrEqual(2997);
  });

  it('finds everything of a host that sends 25 resets a second', async () => {
    const leaving = [`${isReset} limit rate over 25/second burst 5 packets drop`];
    const adaptive = await compared({ ports: 300, leaving });
    expect(adaptive.open).toBe(listening);
  });

  it('finds everything of 200 hosts behind one link of 2,000 packets a second, with less than 1.3 probes for each', async () => {
    const { open, closed, probes } = await sweep({
      ports: 75,
      targets: '127.1.0.1-127.1.0.200',
      arriving: ['limit rate over 2000/second burst 100 packets drop'],
    });
    expect([open, closed]).toEqual([200 * listening, 200 * 25]);
    expect(probes).toBeLessThan(1.3 * 200 * 75);
  });

  it('gives a host no more than at first that responds to nothing', async () => {
    const { open, filtered, highest, probes } = await sweep({
      ports: 500,
      arriving: ['tcp dport 2100-60000 drop'],
    });
    expect([open, filtered]).toEqual([50, 400]);
    expect(highest).toBeLessThanOrEqual(2000);
    expect(probes).toBeLessThanOrEqual(100 + 2 * 400);
  });
});
