import { EventEmitter } from 'node:events';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { GraphLibrary } from '../../src/engine/graph/graph-library.ts';
import { defineModule, type ExecContext } from '../../src/engine/module.ts';
import { Registry } from '../../src/engine/registry.ts';
import { runScanProcess } from '../../src/scan-run/run-scan-process.ts';

/** A scan process like the real one, with modules that nobody would want. Its log goes to the file PORTOLAN_HOSTILE_LOG. */
function misbehave(name: string, execute: (ctx: ExecContext) => Promise<void>) {
  return defineModule({
    name,
    type: 'scanner',
    version: '1.0.0',
    description: 'Misbehaves.',
    options: {},
    requires: ['targets'],
    provides: [`${name}_notes`],
    execute,
  });
}

const modules = [
  misbehave('throws_at_once', () => {
    throw new Error('at once');
  }),
  misbehave('throws_in_timer', async () => {
    setTimeout(() => {
      throw new Error('in a timer');
    }, 50);
    await new Promise(() => undefined);
  }),
  misbehave('rejects_after_end', async () => {
    void sleep(200).then(() => {
      throw new Error('after the end');
    });
  }),
  misbehave('emits_after_end', async () => {
    const emitter = new EventEmitter();
    setTimeout(() => emitter.emit('error', new Error('emitted')), 200);
  }),
  misbehave('takes_its_time', async () => {
    await sleep(1000);
  }),
  misbehave('probes_for_ever', async (ctx) => {
    const ports = JSON.parse(process.env['PORTOLAN_HOSTILE_PORTS'] ?? '[]') as number[];
    const never = new AbortController().signal;
    for (;;) {
      for (const port of ports) {
        for (const host of ctx.net.addresses)
          await ctx.net.probeTcp(host, port, { timeoutMs: 500, signal: never });
      }
    }
  }),
  misbehave('blocks_for_ever', async () => {
    await sleep(100);
    log('info')('blocks from now on');
    for (;;);
  }),
];

const registry = new Registry();
for (const definition of modules) registry.register(definition, 'test');
const log = (level: string) => (message: string, fields?: Record<string, unknown>) =>
  appendFileSync(
    process.env['PORTOLAN_HOSTILE_LOG'] ?? '/dev/null',
    `${JSON.stringify({ level, message, ...fields })}\n`,
  );
await runScanProcess(
  async () => {
    const graphs = fileURLToPath(new URL('hostile-graphs', import.meta.url));
    return { registry, library: await GraphLibrary.load(graphs, 'builtin', registry) };
  },
  { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
);
