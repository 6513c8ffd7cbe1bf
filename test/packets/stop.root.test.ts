import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Wire } from '../lab/wire.ts';
import type { GreatScan } from './cancel-a-great-scan.ts';
import { canRun, type PortStates, triesOf, twoHosts } from './two-hosts.ts';

const excludeInTheMiddle = fileURLToPath(new URL('exclude-in-the-middle.ts', import.meta.url));
const cancelAGreatScan = fileURLToPath(new URL('cancel-a-great-scan.ts', import.meta.url));

interface Excluded {
  reloadedAt: number;
  warnings: { code: string }[];
  coverage: PortStates;
}

describe.skipIf(!canRun)('a sweep by raw packets that is to do less, or nothing any more', () => {
  let wire: Wire;
  beforeAll(async () => {
    wire = twoHosts();
    await wire.listen([8001, 8002]);
  });
  afterAll(() => wire?.down());

  it('sends nothing to what is excluded meanwhile, 4,000 packets after the reload was answered, and goes on with the rest', async () => {
    const submission = {
      targets: ['10.82.9.0/25', '10.83.9.0/25'],
      dag: 'port-scan',
      ports: '8001-8100',
      rate: 4000,
      options: { scan_type: 'syn', discover: false, retries: 1 },
    };
    const denied = '10.82.9.64/26, 10.83.9.0/26';
    const run = await wire.run(excludeInTheMiddle, [JSON.stringify(submission), denied]);
    expect([run.exitCode, run.stderr]).toEqual([0, '']);
    const { reloadedAt, warnings, coverage } = JSON.parse(run.stdout) as Excluded;
    const isDenied = (host: string) => {
      const [, network, last] = /^10\.(8[23])\.9\.(\d+)$/.exec(host) ?? [];
      return network === '82' ? Number(last) >= 64 : Number(last) < 64;
    };
    const toDenied = run.packets.filter(({ host, kind }) => kind === 'syn' && isDenied(host));
    expect(toDenied.length).toBeGreaterThan(1000);
    // What it sends in a second; on a busy machine both the sending and the reload take longer.
    const later = run.packets.filter(({ kind, time }) => kind === 'syn' && time > reloadedAt).slice(4000);
    expect(later.length).toBeGreaterThan(4000);
    expect(later.filter(({ host }) => isDenied(host))).toEqual([]);
    const rest = [...triesOf(run.packets)].filter(
      ([endpoint]) => !isDenied(endpoint.split(' ')[0] as string),
    );
    // Without the address of the network and the broadcast address.
    expect(rest).toHaveLength((63 + 63) * 100);
    expect(rest.filter(([, tries]) => tries > 2)).toEqual([]);
    expect(warnings.map(({ code }) => code)).toContain('scope_narrowed');
    const { planned, open, closed, filtered, not_tried } = coverage;
    expect([planned, open + closed + filtered + not_tried]).toEqual([252 * 100, 252 * 100]);
    expect(not_tried).toBeGreaterThan(1000);
    expect(open).toBeGreaterThanOrEqual(63 * 2);
  });

  it('keeps 16,777,216 endpoints in little memory, gets on, and falls silent after a cancel', async () => {
    const submission = {
      targets: ['10.83.0.0/16'],
      dag: 'port-scan',
      ports: '8001-8256',
      rate: 100_000,
      options: { scan_type: 'syn', discover: false, retries: 0 },
    };
    const args = [JSON.stringify(submission), '2', 'eth0'];
    const run = await wire.run(cancelAGreatScan, args, { captured: false });
    expect([run.exitCode, run.stderr]).toEqual([0, '']);
    const { engineBytes, percents, sent, isSilent, status } = JSON.parse(run.stdout) as GreatScan;
    console.log(
      `${sent[0]} packets, engine ${Math.round(engineBytes / 1e6)} MB, percent ${percents.join(' ')}`,
    );
    // The peak, which depends on when garbage is collected: 135 to 165 MB.
    expect(engineBytes).toBeGreaterThan(30e6);
    expect(engineBytes).toBeLessThanOrEqual(180e6);
    expect(percents.at(-1)).toBeGreaterThanOrEqual(1);
    expect(percents.toSorted((a, b) => a - b)).toEqual(percents);
    expect(sent[0]).toBeGreaterThan(200_000);
    // What it sends in a second.
    expect(sent[1] - sent[0]).toBeLessThanOrEqual(100_000);
    expect(isSilent).toBe(true);
    expect(status).toBe('failed');
  });
});
