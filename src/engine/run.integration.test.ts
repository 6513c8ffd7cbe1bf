import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PauseGate } from '../net/gate/pause-gate.ts';
import { forEachItem } from './each.ts';
import { environmentOf, moduleOf, planOf, runTrial } from './fixtures/graph-trial.ts';
import { type EarlierRun, runGraph } from './run.ts';

const hosts = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    ip: `127.0.${i >> 8}.${i & 255}`,
    latency_ms: 1,
    method: 'test',
  }));
const portOf = (host: string) => ({ host, port: 80, protocol: 'tcp', state: 'open', reason: 'syn-ack' });

const finder = (count: number) =>
  moduleOf(
    'finder',
    'discovery',
    { requires: ['targets'], provides: ['discovered_hosts'] },
    async (_ctx, data) => {
      for (const host of hosts(count)) await data.append('discovered_hosts', host);
    },
  );
const sweeper = moduleOf(
  'sweeper',
  'scanner',
  { requires: ['discovered_hosts|targets'], provides: ['open_ports'] },
  async (ctx, data) => {
    const key = data.has('discovered_hosts') ? 'discovered_hosts' : 'targets';
    await forEachItem(ctx, data.stream<{ ip?: string; value?: string }>(key), { concurrency: 8 }, (host) =>
      data.append('open_ports', portOf(host.ip ?? host.value ?? '')),
    );
  },
);
const reporter = (seen: string[]) =>
  moduleOf('reporter', 'reporter', {}, async () => {
    seen.push('report');
  });

const chain = `nodes:
  - {instance_id: find, module_type: finder}
  - {instance_id: sweep, module_type: sweeper, depends_on: [find]}
  - {instance_id: report, module_type: reporter, depends_on: [sweep]}
`;

describe('runGraph', () => {
  it('streams: the consumer works while the producer still produces', async () => {
    const events: string[] = [];
    const slow = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async (_, data) => {
        for (const host of hosts(3)) {
          events.push(`found ${host.ip}`);
          await data.append('discovered_hosts', host);
          await sleep(20);
        }
      },
    );
    const { states } = await runTrial({
      modules: [slow, sweeper, reporter(events)],
      graph: chain,
      environment: {
        tap: (key, item) =>
          void (key === 'open_ports' && events.push(`open ${(item as { host: string }).host}`)),
      },
    });
    expect(states).toEqual({ find: 'completed', sweep: 'completed', report: 'completed' });
    expect(events.indexOf('open 127.0.0.0')).toBeLessThan(events.indexOf('found 127.0.0.2'));
    expect(events.at(-1)).toBe('report');
  });

  it('holds the producer back while a consumer lags', async () => {
    let produced = 0;
    let consumed = 0;
    let widest = 0;
    const fast = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async (_, data) => {
        for (const host of hosts(500)) {
          await data.append('discovered_hosts', host);
          produced++;
          widest = Math.max(widest, produced - consumed);
        }
      },
    );
    const lazy = moduleOf('sweeper', 'scanner', { requires: ['discovered_hosts'] }, async (_, data) => {
      for await (const _host of data.stream('discovered_hosts')) {
        consumed++;
        if (consumed % 50 === 0) await sleep(1);
      }
    });
    await runTrial({ modules: [fast, lazy, reporter([])], graph: chain });
    expect(consumed).toBe(500);
    expect(widest).toBeLessThanOrEqual(18);
  });

  it('does not stop producers when a node reads its inputs one after the other', async () => {
    const join = moduleOf(
      'joiner',
      'profiler',
      { requires: ['open_ports', 'discovered_hosts'], provides: [] },
      async (_, data) => {
        expect((await data.getPorts('open_ports')).length).toBe(300);
        expect((await data.getHosts('discovered_hosts')).length).toBe(300);
      },
    );
    const graph = `${chain}  - {instance_id: join, module_type: joiner, depends_on: [sweep]}\n`;
    const { states } = await runTrial({ modules: [finder(300), sweeper, join, reporter([])], graph });
    expect(states['join']).toBe('completed');
  });

  it('hands a host that two modules find to the sweep once', async () => {
    const twin = { ...finder(20), name: 'twin' };
    const graph = `nodes:
  - {instance_id: find, module_type: finder}
  - {instance_id: again, module_type: twin}
  - {instance_id: sweep, module_type: sweeper, depends_on: [find, again]}
`;
    const { taps } = await runTrial({ modules: [finder(20), twin, sweeper], graph });
    expect(taps.filter(([key]) => key === 'open_ports').length).toBe(20);
  });

  it('reads targets when discovery is off', async () => {
    const { states, taps } = await runTrial({
      modules: [finder(5), sweeper, reporter([])],
      graph: chain,
      discover: false,
    });
    expect(states['find']).toBe('skipped');
    expect(taps).toEqual([['open_ports', portOf('127.0.0.9')]]);
  });

  it('keeps what a failing node published, lets the others go on and always reports', async () => {
    const seen: string[] = [];
    const broken = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async (_, data) => {
        await data.append('discovered_hosts', hosts(1)[0]);
        throw new Error('the cable fell out');
      },
    );
    const { states, warnings, taps } = await runTrial({
      modules: [broken, sweeper, reporter(seen)],
      graph: chain,
    });
    expect(states).toEqual({ find: 'failed', sweep: 'completed', report: 'completed' });
    expect(warnings).toEqual(['find: finder failed: the cable fell out']);
    expect(taps.length).toBe(2);
    expect(seen).toEqual(['report']);
  });

  it('skips a node whose input will never come', async () => {
    const broken = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async () => {
        throw new Error('no luck');
      },
    );
    const { states, stages } = await runTrial({ modules: [broken, sweeper, reporter([])], graph: chain });
    expect(states).toEqual({ find: 'failed', sweep: 'skipped', report: 'completed' });
    expect(stages[1]?.error).toBe('no data will arrive under "discovered_hosts"');
  });

  it('a module that throws at once, late or beside its promise fails only its node', async () => {
    const sync = {
      ...finder(0),
      create: () => ({
        ...finder(0).create(),
        execute: () => {
          throw new Error('at once');
        },
      }),
    };
    const { states } = await runTrial({ modules: [sync, sweeper, reporter([])], graph: chain });
    expect(states['find']).toBe('failed');
    expect(states['report']).toBe('completed');
  });

  it('refuses keys that the module did not declare and records that lack their identity', async () => {
    const tarpit = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async (_, data) => {
        await expect(data.append('banners', {})).rejects.toThrow('does not declare "banners"');
        await expect(data.get('vulnerabilities')).rejects.toThrow('no data under "vulnerabilities"');
        await data.append('discovered_hosts', { name: 'no ip' });
      },
    );
    const { stages } = await runTrial({ modules: [tarpit, sweeper, reporter([])], graph: chain });
    expect(stages[0]?.error).toContain('an item has no "ip"');
  });

  it('cancels: every node ends, even one that ignores it for good', async () => {
    const abort = new AbortController();
    const deaf = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async (_, data) => {
        await data.append('discovered_hosts', hosts(1)[0]);
        await new Promise(() => {});
      },
    );
    const seen: string[] = [];
    setTimeout(() => abort.abort(new Error('canceled')), 50);
    const { states } = await runTrial({
      modules: [deaf, sweeper, reporter(seen)],
      graph: chain,
      environment: { signal: abort.signal },
    });
    expect(states['find']).toBe('failed');
    expect(states['sweep']).toBe('failed');
    expect(seen).toEqual(['report']);
  });

  it('fails a node that makes no progress, and one that outlives its own timeout', async () => {
    const stuck = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      (ctx) =>
        new Promise((_, reject) =>
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error)),
        ),
    );
    const stalled = await runTrial({
      modules: [stuck, sweeper, reporter([])],
      graph: chain,
      environment: { stallTimeoutMs: 100 },
    });
    expect(stalled.stages[0]?.error).toBe('made no progress for 100 ms');
    const hold = new PauseGate();
    hold.hold();
    const order: string[] = [];
    setTimeout(() => {
      order.push('resumed');
      hold.release();
    }, 400);
    const paused = await runTrial({
      modules: [stuck, sweeper, reporter([])],
      graph: chain,
      environment: { stallTimeoutMs: 100, hold },
    });
    order.push('given up');
    expect(paused.stages[0]?.error).toBe('made no progress for 100 ms');
    expect(order).toEqual(['resumed', 'given up']);
    const slow = await runTrial({
      modules: [stuck, sweeper, reporter([])],
      graph: chain.replace('module_type: finder}', 'module_type: finder, timeout: 80ms}'),
    });
    expect(slow.stages[0]?.error).toBe('ran longer than its timeout of 80 ms');
  });

  it('stops everything at the first failure when fail_fast is set', async () => {
    const broken = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async (_, data) => {
        await data.append('discovered_hosts', hosts(1)[0]);
        await sleep(30);
        throw new Error('no luck');
      },
    );
    const patient = moduleOf('sweeper', 'scanner', { requires: ['discovered_hosts'] }, async (ctx) => {
      await sleep(60_000, undefined, { signal: ctx.signal });
    });
    const { states } = await runTrial({
      modules: [broken, patient, reporter([])],
      graph: chain,
      environment: { failFast: true },
    });
    expect(states['sweep']).toBe('failed');
  });

  it('repeats an attempt that touched nothing, as often as the graph says', async () => {
    let tries = 0;
    const flaky = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async () => {
        tries++;
        if (tries < 3) throw new Error('not yet');
      },
    );
    const graph = chain.replace(
      'module_type: finder}',
      'module_type: finder, retry: {attempts: 3, backoff: 1ms}}',
    );
    const { states } = await runTrial({ modules: [flaky, sweeper, reporter([])], graph });
    expect(tries).toBe(3);
    expect(states['find']).toBe('completed');
  });

  it('goes on after an interruption: hands on what is recorded, spares what is done, restores what was saved', async () => {
    const ran: string[] = [];
    const spared = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async () => {
        ran.push('finder');
      },
    );
    const restored: unknown[] = [];
    const going = moduleOf(
      'sweeper',
      'scanner',
      { requires: ['discovered_hosts'], provides: ['open_ports'] },
      async (ctx, data) => {
        restored.push(ctx.restored);
        ctx.checkpoint(() => ({ at: 7 }));
        for await (const host of data.stream<{ ip: string }>('discovered_hosts')) {
          if (ctx.recorded('port_counts', { host: host.ip })) continue;
          await data.append('open_ports', portOf(host.ip));
          ctx.progress(9);
        }
        ran.push('sweeper');
      },
    );
    const reader = moduleOf('reader', 'profiler', { requires: ['open_ports'] }, async (_, data) => {
      ran.push((await data.getPorts('open_ports')).map(({ host }) => host).join(' '));
    });
    const earlier: EarlierRun = {
      states: new Map([
        ['find', { completed: true, done: 3, state: null }],
        ['sweep', { completed: false, done: 1, state: { at: 5 } }],
      ]),
      async *items(key) {
        if (key === 'discovered_hosts') yield* hosts(3);
        if (key === 'open_ports') yield portOf('127.0.0.0');
      },
      has: (key, record) => key === 'port_counts' && (record as { host: string }).host === '127.0.0.0',
      banners: async function* () {},
      counts: () => new Map(),
    };
    const { taps, states } = await runTrial({
      modules: [spared, going, reader, reporter([])],
      graph: `${chain}  - {instance_id: read, module_type: reader, depends_on: [sweep]}\n`,
      environment: { earlier },
    });
    expect(states).toMatchObject({ find: 'completed', sweep: 'completed', read: 'completed' });
    expect(restored).toEqual([{ at: 5 }]);
    expect(ran).toEqual(['sweeper', '127.0.0.0 127.0.0.1 127.0.0.2']);
    expect(taps.map(([, item]) => (item as { host: string }).host)).toEqual(['127.0.0.1', '127.0.0.2']);
  });

  it('a node that rereads banners gets the recorded ones beside the new ones, other nodes do not', async () => {
    const banner = (host: string) => ({ host, port: 22, protocol: 'tcp', banner: 'SSH', probe: 'null' });
    const grabber = moduleOf('grabber', 'scanner', { provides: ['banners'] }, async (_, data) => {
      await data.append('banners', banner('127.0.0.9'));
    });
    const read = new Map<string, string[]>();
    const readerOf = (name: string) =>
      moduleOf(name, 'evaluation', { requires: ['banners'] }, async (_, data) => {
        read.set(name, (await data.getBanners('banners')).map(({ host }) => host).sort());
      });
    const earlier: EarlierRun = {
      states: new Map(),
      items: async function* () {},
      banners: async function* () {
        // More than a stream buffers.
        for (let count = 0; count < 100; count++) yield banner(`127.0.1.${count}`);
      },
      has: () => false,
      counts: () => new Map(),
    };
    const { states, taps } = await runTrial({
      modules: [grabber, readerOf('prompt'), { ...readerOf('slow'), rereadsBanners: true }],
      graph: `nodes:
  - {instance_id: grab, module_type: grabber}
  - {instance_id: prompt, module_type: prompt, depends_on: [grab]}
  - {instance_id: slow, module_type: slow, depends_on: [grab]}
`,
      environment: { earlier, streamBuffer: 8 },
    });
    expect(states).toEqual({ grab: 'completed', prompt: 'completed', slow: 'completed' });
    expect(read.get('prompt')).toEqual(['127.0.0.9']);
    expect(read.get('slow')).toHaveLength(101);
    expect(taps).toHaveLength(1);
  });

  it('keeps what an earlier run saved of a node that has not begun again, or need not', async () => {
    const spared = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async () => undefined,
    );
    const earlier: EarlierRun = {
      states: new Map([
        ['find', { completed: true, done: 3, state: null }],
        ['sweep', { completed: false, done: 1, state: { at: 5 } }],
      ]),
      async *items(key) {
        await sleep(20);
        if (key === 'discovered_hosts') yield* hosts(1);
      },
      has: () => false,
      banners: async function* () {},
      counts: () => new Map(),
    };
    const plan = planOf({ modules: [spared, sweeper, reporter([])], graph: chain });
    const run = runGraph(plan, environmentOf({ earlier }));
    expect(run.snapshot()).toEqual(Object.fromEntries(earlier.states));
    await run.finished;
    expect(run.snapshot()).toMatchObject({ find: { completed: true, done: 3 } });
  });

  it('gives the state of the nodes that save one', async () => {
    const { promise: saved, resolve } = Promise.withResolvers<void>();
    const saving = moduleOf(
      'finder',
      'discovery',
      { requires: ['targets'], provides: ['discovered_hosts'] },
      async (ctx, data) => {
        ctx.checkpoint(() => ({ at: 1 }));
        ctx.progress(4);
        await data.append('discovered_hosts', hosts(1)[0]);
        await saved;
      },
    );
    const plan = planOf({ modules: [saving, sweeper, reporter([])], graph: chain });
    const run = runGraph(plan, environmentOf({}));
    await sleep(20);
    expect(run.snapshot()).toEqual({ find: { completed: false, done: 4, state: { at: 1 } } });
    resolve();
    await run.finished;
    expect(run.snapshot()).toEqual({ find: { completed: true, done: 4, state: null } });
  });
});
