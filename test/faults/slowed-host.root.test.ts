import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canMakeNamespaces, Namespace } from '../../src/net/packets/fixtures/namespace.ts';
import { isInstalled } from '../installed.ts';
import type { SlowedOutcome, SlowedScan } from './slowed-host-scan.ts';

const script = fileURLToPath(new URL('./slowed-host-scan.ts', import.meta.url));

describe.skipIf(!canMakeNamespaces || !isInstalled('nft'))('a host that limits what it responds to', () => {
  let scanner: Namespace;
  let host: Namespace;
  beforeEach(() => {
    [scanner, host] = [new Namespace(), new Namespace()];
    scanner.join('eth0', host);
    scanner.ip('address add 10.85.0.1/24 dev eth0');
    host.ip('address add 10.85.0.2/24 dev eth0');
    host.exec('nft', 'add table ip trial');
    host.exec('nft', 'add chain ip trial input { type filter hook input priority 0 ; }');
    host.exec(
      'nft',
      'add rule ip trial input tcp flags syn limit rate over 2000/second burst 100 packets drop',
    );
  });
  afterEach(() => {
    scanner?.close();
    host?.close();
  });

  it('is named in the warnings of a scan, once, as soon as it is slowed', async () => {
    const scan: SlowedScan = { target: '10.85.0.2', ports: '1-20000' };
    const { first, warnings } = await scanner.run<SlowedOutcome>(script, scan, 120_000);
    expect(first).toEqual({ status: 'running', codes: ['host_slowed'] });
    expect(warnings).toEqual([
      {
        code: 'host_slowed',
        target: '10.85.0.2',
        message: expect.stringMatching(
          /^10\.85\.0\.2 did not respond to [\d,]+ packets per second as before: slowed down to [\d,]+$/,
        ),
      },
    ]);
  });
});
