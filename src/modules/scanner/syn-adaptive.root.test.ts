import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import type { ScannerOutcome, ScannerTrial } from '../../../test/scanner-trial.ts';
import { canMakeNamespaces, Namespace } from '../../net/packets/fixtures/namespace.ts';

const script = fileURLToPath(new URL('../../../test/scanner-trial.ts', import.meta.url));
const hasNft = isInstalled('nft');
const isSyn = 'tcp flags & (syn | ack) == syn';
const isReset = 'tcp flags & rst == rst';
const listening = 50;

interface Sweep {
  ports: number;
  targets?: string;
  /** What becomes of probes on their way in, as rules of nft. */
  arriving?: string[];
  /** The same of responses. */
  leaving?: string[];
}

describe.skipIf(!canMakeNamespaces || !hasNft)('a sweep by raw packets at an adaptive rate', () => {
  let host: Namespace;
  beforeEach(() => {
    host = new Namespace();
  });
  afterEach(() => host?.close());

  /** What the host itself counts arrives in no other way than as a probe. */
  const arrivals = () => Number(/packets (\d+)/.exec(host.exec('nft', 'list chain ip trial input'))?.[1]);

  async function sweep({ ports, targets, arriving = [], leaving = [] }: Sweep, rate: number | 'auto') {
    // Anew for each sweep: a rule with a limit remembers what it let through.
    host.exec('nft', 'add table ip trial');
    host.exec('nft', 'delete table ip trial');
    host.exec('nft', 'add table ip trial');
    for (const hook of ['input', 'output'])
      host.exec('nft', `add chain ip trial ${hook} { type filter hook ${hook} priority 0 ; }`);
    host.exec('nft', `add rule ip trial input ${isSyn} tcp dport 2000-60000 counter`);
    for (const rule of arriving) host.exec('nft', `add rule ip trial input ${isSyn} ${rule}`);
    for (const rule of leaving) host.exec('nft', `add rule ip trial output ${rule}`);
    const config = { ports: `2000-${1999 + ports}`, rate: 100_000, host_rate: 0, fallback: false };
    const trial: ScannerTrial = {
      module: 'syn_scanner',
      listening,
      config,
      rate,
      ...(targets && { targets }),
    };
    const { counts, highest, open } = await host.run<ScannerOutcome>(script, trial);
    const sum = (name: 'open' | 'closed' | 'filtered') =>
      counts.reduce((total, each) => total + each[name], 0);
    return { open, closed: sum('closed'), filtered: sum('filtered'), highest, probes: arrivals() };
  }

  /** At the usual rate, and at the adaptive one: which finds as much, with at most 1.3 times the packets. */
  async function compared(trial: Sweep) {
    const [fixed, adaptive] = [await sweep(trial, 1000), await sweep(trial, 'auto')];
    expect(adaptive.open).toBe(fixed.open);
    expect(adaptive.probes).toBeLessThanOrEqual(1.3 * fixed.probes);
    return adaptive;
  }

  it('speeds up while a host responds, with one probe for each port', async () => {
    const { open, closed, highest, probes } = await sweep({ ports: 10_000 }, 'auto');
    expect([open, open + closed, probes >= 10_000, probes < 10_500]).toEqual([50, 10_000, true, true]);
    expect(highest).toBeGreaterThan(4000);
  });

  // Learning the limit costs 2,000 to 4,500 packets, however much there is to probe.
  it('finds everything of a host that takes 5,000 a second, with less than 1.3 probes for each port', async () => {
    const arriving = ['limit rate over 5000/second burst 200 packets drop'];
    const { open, closed, probes } = await sweep({ ports: 30_000, arriving }, 'auto');
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
    const { open, closed, probes } = await sweep(
      {
        ports: 75,
        targets: '127.1.0.1-127.1.0.200',
        arriving: ['limit rate over 2000/second burst 100 packets drop'],
      },
      'auto',
    );
    expect([open, closed]).toEqual([200 * listening, 200 * 25]);
    expect(probes).toBeLessThan(1.3 * 200 * 75);
  });

  it('gives a host no more than at first that responds to nothing', async () => {
    const { open, filtered, highest, probes } = await sweep(
      { ports: 500, arriving: ['tcp dport 2100-60000 drop'] },
      'auto',
    );
    expect([open, filtered]).toEqual([50, 400]);
    expect(highest).toBeLessThanOrEqual(2000);
    expect(probes).toBeLessThanOrEqual(100 + 2 * 400);
  });
});
