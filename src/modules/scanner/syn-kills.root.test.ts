import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import type { KilledSweep, SweepEnd, SweepPosition } from '../../../test/killed-sweep.ts';
import { canMakeNamespaces, Namespace } from '../../net/packets/fixtures/namespace.ts';
import { EndpointOrder } from '../../net/packets/frame/endpoint-order.ts';

const script = fileURLToPath(new URL('../../../test/killed-sweep.ts', import.meta.url));
const hasNft = isInstalled('nft');
/** Time in which the sending process of a killed sweep ends too. */
const endMs = 250;

/** SYNs by `address port`, as the receiving side counted them. */
type Syns = ReadonlyMap<string, number>;

interface Kill {
  /** The last checkpoint. */
  at: SweepPosition;
  /** What was received until the kill. */
  syns: Syns;
}

describe.skipIf(!canMakeNamespaces || !hasNft)('a sweep that is killed', () => {
  let host: Namespace;
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'portolan-kills-'));
    host = new Namespace();
    const pairs = '{ typeof ip daddr . tcp dport ; flags dynamic ; counter ; size 65535 ; }';
    host.exec('nft', 'add table ip trial');
    host.exec('nft', `add set ip trial pairs ${pairs}`);
    host.exec('nft', 'add chain ip trial input { type filter hook input priority 0 ; }');
    const count = 'tcp flags & (syn | ack) == syn update @pairs { ip daddr . tcp dport counter }';
    host.exec('nft', `add rule ip trial input ${count}`);
  });
  afterEach(() => {
    host.close();
    rmSync(folder, { recursive: true });
  });

  function received(): Syns {
    interface Listed {
      nftables: {
        set?: { elem?: { elem: { val: { concat: [string, number] }; counter: { packets: number } } }[] };
      }[];
    }
    const { nftables } = JSON.parse(host.exec('nft', '-j', 'list', 'set', 'ip', 'trial', 'pairs')) as Listed;
    const elements = nftables.flatMap(({ set }) => set?.elem ?? []);
    return new Map(elements.map(({ elem: { val, counter } }) => [val.concat.join(' '), counter.packets]));
  }

  /** One run to its kill or its end. @returns what it printed last: its last checkpoint, or its end */
  async function run(trial: KilledSweep): Promise<SweepPosition | SweepEnd> {
    const command = ['netns', 'exec', host.name, process.execPath, script, JSON.stringify(trial)];
    const child = spawn('ip', command, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 20_000 });
    const lines = (await text(child.stdout)).trim().split('\n');
    return JSON.parse(lines.at(-1) as string) as SweepPosition | SweepEnd;
  }

  async function sweep(
    more: Omit<KilledSweep, 'file' | 'kill'>,
    killsAt: KilledSweep['kill'][],
    afterKill = () => undefined as void,
  ) {
    const trial = { ...more, file: join(folder, 'checkpoint.json') };
    const kills: Kill[] = [];
    for (const kill of killsAt) {
      const at = await run({ ...trial, ...(kill && { kill }) });
      if (!('counter' in at)) throw new Error('the sweep ended before it was killed');
      await sleep(endMs);
      kills.push({ at, syns: received() });
      afterKill();
    }
    const end = await run(trial);
    if ('counter' in end) throw new Error('the sweep did not end');
    return { kills, end, syns: received() };
  }

  it('probes no pair again that a checkpoint has behind it, in the first try and in a further one', async () => {
    // 20 hosts, of which two respond.
    host.exec('nft', 'add rule ip trial input ip daddr 127.0.0.3-127.0.0.20 drop');
    const planned = Array.from({ length: 300 }, (_, at) => 2000 + at);
    const { kills, end, syns } = await sweep(
      {
        targets: '127.0.0.1-127.0.0.20',
        listening: 10,
        config: { ports: '2000-2299', rate: 4000, retries: 1 },
      },
      // 8,256 counters for 6,000 pairs, of which the 60 of the three likely ports come first: one kill in each try.
      [2000, 11_000].map((counter) => ({ counter, packets: 0 })),
    );
    expect(end).toEqual({
      coverage: { open: 10, closed: 590, filtered: 18 * 300, not_tried: 0 },
      open: 10,
    });
    for (const [nth, { at, syns: before }] of kills.entries()) {
      const after = kills[nth + 1]?.syns ?? syns;
      expect(at.leading).toEqual([2049, 2181, 2222]);
      const ports = [...at.leading, ...planned.filter((port) => !at.leading.includes(port))];
      const order = new EndpointOrder({ hosts: 20, ports: 300, leading: 3 }, at.key);
      const triesLeft = at.counter < order.length ? 1 : 0;
      const behind = Array.from({ length: at.counter - (triesLeft === 1 ? 0 : order.length) }, (_, counter) =>
        order.at(counter),
      ).filter((endpoint) => endpoint >= 0);
      expect(behind.length).toBeGreaterThan(1000);
      const again = behind.filter((endpoint) => {
        const pair = `${at.hosts[Math.floor(endpoint / 300)]} ${ports[endpoint % 300]}`;
        return (after.get(pair) ?? 0) - (before.get(pair) ?? 0) > triesLeft;
      });
      expect(again).toHaveLength(0);
    }
    // Nothing is left out: a silent pair gets both tries.
    const isSilent = (pair: string) => Number(pair.split(' ')[0]?.split('.')[3]) >= 3;
    expect(syns.size).toBe(6000);
    expect([...syns].filter(([pair, count]) => count < (isSilent(pair) ? 2 : 1))).toEqual([]);
  });

  it('probes again what one second sends at the most, in the last try where nothing responds', async () => {
    host.exec('nft', 'add rule ip trial input tcp dport 2000-2149 drop');
    const rate = 1500;
    const { end, syns } = await sweep(
      { targets: '127.0.0.1-127.0.0.20', listening: 0, config: { ports: '2000-2149', rate, retries: 1 } },
      // A walk of 4,096 counters for 3,000 pairs: the kill comes when most of the second try has left.
      [{ counter: 4097, packets: 3000 + 2400 }],
    );
    expect(end).toEqual({ coverage: { open: 0, closed: 0, filtered: 3000, not_tried: 0 }, open: 0 });
    const again = [...syns.values()].reduce((sum, count) => sum + count - 2, 0);
    expect(again).toBeGreaterThan(0);
    expect(again).toBeLessThanOrEqual(rate);
  });

  it.each([
    ['syn_scanner', 300],
    ['connect_scanner', 300],
    // By threads.
    ['connect_scanner', 30_000],
  ] as const)(
    'goes on in the slow pass of a host that drops probes (%s at rate %i)',
    async (module, rate) => {
      const limit = 'limit rate over 25/second burst 5 packets drop';
      host.exec('nft', `add rule ip trial input tcp flags & (syn | ack) == syn tcp dport 2000-2119 ${limit}`);
      const { end, syns } = await sweep(
        { module, targets: '127.0.0.1', listening: 120, config: { ports: '2000-2119', rate, retries: 1 } },
        // Two tries of most of the 120 pairs, and then some 60 slow probes, 20 a second.
        [{ counter: 0, packets: 290 }],
      );
      expect(end).toEqual({ coverage: { open: 120, closed: 0, filtered: 0, not_tried: 0 }, open: 120 });
      // Two tries, and a slow one.
      const again = [...syns.values()].filter((count) => count > 3);
      expect(again.length).toBeLessThanOrEqual(20);
    },
    60_000,
  );

  it('calls nothing filtered whose response was on its way, without any further try', async () => {
    // Responses stand still at first, and what comes after the kill is lost.
    host.exec('nft', 'add chain ip trial output { type filter hook output priority 0 ; }');
    host.exec('nft', 'add rule ip trial output tcp sport 2000-2299 drop');
    const { kills, end, syns } = await sweep(
      {
        targets: '127.0.0.1',
        listening: 20,
        // Its responses are waited for long enough that a loaded machine writes a checkpoint before.
        latencyMs: 1400,
        config: { ports: '2000-2299', rate: 3000, retries: 0 },
      },
      [{ counter: 0, packets: 300 }],
      () => void host.exec('nft', 'flush chain ip trial output'),
    );
    expect(kills[0]?.syns.size).toBe(300);
    expect(end).toEqual({ coverage: { open: 20, closed: 280, filtered: 0, not_tried: 0 }, open: 20 });
    expect([...new Set(syns.values())]).toEqual([2]);
  });
});
