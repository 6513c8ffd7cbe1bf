import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import type { ScannerOutcome, ScannerTrial } from '../../../test/scanner-trial.ts';
import { noTraffic } from '../../domain/traffic.ts';
import { canMakeNamespaces, Namespace } from '../../net/packets/fixtures/namespace.ts';

const script = fileURLToPath(new URL('../../../test/scanner-trial.ts', import.meta.url));
const hasNft = isInstalled('nft');
/** Connections by sockets, by threads (above 20,000 per second), and raw packets. */
const ways = [
  ['connect_scanner', 300],
  ['connect_scanner', 30_000],
  ['syn_scanner', 300],
] as const;

describe.skipIf(!canMakeNamespaces || !hasNft)('a host that takes 25 SYN a second', () => {
  let host: Namespace;
  const sweep = (trial: ScannerTrial) => host.run<ScannerOutcome>(script, trial);

  beforeAll(() => {
    host = new Namespace();
    host.exec('nft', 'add table ip limits');
    host.exec('nft', 'add chain ip limits input { type filter hook input priority 0 ; }');
    const isSyn = 'tcp flags & (syn | ack) == syn tcp dport';
    host.exec(
      'nft',
      `add rule ip limits input ${isSyn} 2000-2999 limit rate over 25/second burst 5 packets drop`,
    );
    // A filter with some open ports, on another host as it were.
    host.exec('nft', `add rule ip limits input ${isSyn} 3005-3999 drop`);
  });
  afterAll(() => host?.close());

  it.each(ways)('shows all of its open ports to %s at rate %i', async (module, rate) => {
    const config = { ports: '2000-2049', rate, ...(module === 'syn_scanner' && { fallback: false }) };
    const { counts, open, traffic } = await sweep({ module, listening: 50, config });
    expect(counts).toMatchObject([{ open: 50, closed: 0, filtered: 0, not_tried: 0 }]);
    expect(open).toBe(50);
    expect(traffic.sent).toBeLessThan(200);
  });

  it.each(ways)('costs %s at rate %i no further packet where a filter drops them', async (module, rate) => {
    const config = { ports: '3000-3099', rate, ...(module === 'syn_scanner' && { fallback: false }) };
    const { counts, traffic } = await sweep({ module, listening: 0, config });
    expect(counts).toMatchObject([{ open: 0, closed: 5, filtered: 95, not_tried: 0 }]);
    expect(traffic.sent).toBe(5 + 2 * 95);
    const { raw, errors } = traffic;
    if (module === 'syn_scanner') expect(raw).toMatchObject({ sent: 195, retransmitted: 95, dropped: 0 });
    else expect(raw).toEqual({ sent: 0, received: 0, dropped: 0, retransmitted: 0 });
    // Of connections by sockets each try counts, of sweeps each port.
    const timeout = module === 'connect_scanner' && rate === 300 ? 190 : 95;
    expect(errors).toEqual({ ...noTraffic().errors, refused: 5, timeout });
  });
});
