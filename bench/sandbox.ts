/** What the sandbox of plugins costs: `npm run bench:sandbox`. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { HostProcess } from '../src/plugins/sandbox/host-process.ts';
import { selfTestProgram } from '../src/plugins/sandbox/self-test.ts';

const rounds = 9;
const calls = 5000;
const batches = 500;
/** Items of a batch, and the length of each. */
const items = 128;
const itemText = 'x'.repeat(100);
const callMs = 60_000;
const options = { program: selfTestProgram, memory: 512 * 1024 ** 2, output: 64 * 1024 ** 2, threads: 256 };

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function elapsed(work: () => unknown): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

const bare: number[] = [];
const ready: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  bare.push(await elapsed(() => spawnSync(process.execPath, ['-e', '0'])));
  let host: HostProcess | null = null;
  const start = async () => {
    host = await HostProcess.start(options);
  };
  ready.push(await elapsed(start));
  await (host as HostProcess | null)?.close();
}

const host = await HostProcess.start(options);
const single = await elapsed(async () => {
  for (let call = 0; call < calls; call += 1) await host.call({ echo: call }, callMs);
});
const batch = Array.from({ length: items }, () => itemText);
const batched = await elapsed(async () => {
  for (let call = 0; call < batches; call += 1) await host.call({ echo: batch }, callMs);
});
const status = readFileSync(`/proc/${host.pid}/status`, 'utf8');
const rss = Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1]) / 1024;
await host.close();

const figures = [
  ['bare Node.js, start to end', `${median(bare).toFixed(0)} ms`],
  ['sandbox, start to ready', `${median(ready).toFixed(0)} ms`],
  ['calls, one after another', `${Math.round(calls / (single / 1000))}/s`],
  [`items in batches of ${items}, there and back`, `${Math.round((batches * items) / (batched / 1000))}/s`],
  ['RSS of the host', `${rss.toFixed(0)} MiB`],
];
for (const [name, value] of figures) console.log(`${name}: ${value}`);
