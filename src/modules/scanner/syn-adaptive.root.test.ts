import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import type { ScannerOutcome, ScannerTrial } from '../../../test/scanner-trial.ts';
import { canMakeNamespaces, Namespace } from '../../net/packets/fixtures/namespace.ts';

const script = fileURLToPath(new URL('../../../test/scanner-trial.ts', import.meta.url));
const hasNft = isInstalled('nft');
const isSyn = 'tcp flags & (syn | ack) == syn';
const listening = 50;

describe.skipIf(!canMakeNamespaces || !hasNft)('a sweep by raw packets at an adaptive rate', () => {
  let host: Namespace;
  beforeEach(() => {
    host = new Namespace();
    host.exec('nft', 'add table ip adaptive');
    host.exec('nft', 'add chain ip adaptive input { type filter hook input priority 0 ; }');
  });
  afterEach(() => host?.close());

  /** What the host itself counts arrives in no other way than as a probe. */
  const arrivals = () => Number(/packets (\d+)/.exec(host.exec('nft', 'list chain ip adaptive input'))?.[1]);

  async function sweep(ports: number, ...limits: string[]) {
    host.exec('nft', `add rule ip adaptive input ${isSyn} tcp dport 2000-60000 counter`);
    for (const rule of limits) host.exec('nft', `add rule ip adaptive input ${rule}`);
    const config = { ports: `2000-${1999 + ports}`, rate: 100_000, host_rate: 0, fallback: false };
    const trial: ScannerTrial = { module: 'syn_scanner', listening, config, adaptive: true };
    const outcome = await host.run<ScannerOutcome>(script, trial);
    const [counts = { open: 0, closed: 0, filtered: 0, not_tried: 0 }] = outcome.counts;
    const { open, closed } = counts;
    return { ...outcome, open, closed, counts, probes: arrivals() };
  }

  it('speeds up while a host responds, with one probe for each port', async () => {
    const { open, closed, highest, slowed, probes } = await sweep(10_000);
    expect([open, open + closed, probes >= 10_000, probes < 10_500]).toEqual([50, 10_000, true, true]);
    expect(highest).toBeGreaterThan(4000);
    expect(slowed).toBeLessThanOrEqual(1);
  });

  it('finds everything of a host that takes 5,000 a second, with less than 1.3 probes for each port', async () => {
    const over = 'limit rate over 5000/second burst 200 packets drop';
    const { open, closed, probes } = await sweep(10_000, `${isSyn} ${over}`);
    expect([open, open + closed]).toEqual([50, 10_000]);
    expect(probes).toBeLessThan(13_000);
  });

  it('finds everything while 10 % of the probes are lost, with less than 1.3 probes for each port', async () => {
    const { open, closed, probes } = await sweep(5000, `${isSyn} numgen random mod 10 == 0 drop`);
    expect(open).toBe(50);
    expect(open + closed).toBeGreaterThanOrEqual(4990);
    expect(probes).toBeLessThan(6500);
  });

  it('gives a host no more than at first that responds to nothing', async () => {
    const { open, highest, probes, counts } = await sweep(500, `${isSyn} tcp dport 2100-60000 drop`);
    expect(open).toBe(50);
    expect(counts.filtered).toBe(400);
    expect(highest).toBeLessThanOrEqual(2000);
    expect(probes).toBeLessThanOrEqual(100 + 2 * 400);
  });
});
