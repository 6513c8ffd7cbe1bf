/**
 * How long the API takes while hostile plugins run: `npm run bench:hostile-plugins` (gcc). A server runs a scan with the set of
 * plugins that the tests use: endless loops, crashes, memory, garbage, silence. Requests go out one after the other, before
 * and during it; each kind of request as often as the others.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Home } from '../test/cli/command.ts';
import { hostileGraph, hostileLimits, writeHostileSet } from '../test/plugins/hostile-set.ts';
import { oldWebServer } from '../test/plugins/kinds.ts';
import { ServerProcess } from '../test/program.ts';

const address = '127.86.19.2';
/** Between two requests, milliseconds. */
const pauseMs = 10;
const idleRequests = 500;
const barMs = 100;

const home = new Home();
const web = await oldWebServer(address);
mkdirSync(home.file('.config/portolan/dags'), { recursive: true });
writeFileSync(home.file('.config/portolan/dags/small.yaml'), hostileGraph);
const { files } = await writeHostileSet(home.path, address, home.file('written'));
const server = new ServerProcess({
  args: files.flatMap((file) => ['--plugin', file]),
  env: { ...home.env, ...hostileLimits, XDG_CONFIG_HOME: home.file('.config') },
});

const paths = ['/livez', '/api/v1/health', '/api/v1/scans', '/api/v1/modules', '/api/v1/plugins'];

async function timed(path: string): Promise<number> {
  const begunAt = performance.now();
  const { status } = await server.request(path);
  if (status !== 200) throw new Error(`${path}: ${status}`);
  return performance.now() - begunAt;
}

function row(name: string, times: number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(1);
  console.log(`| ${name} | ${sorted.length} | ${at(0.5)} | ${at(0.99)} | ${at(1)} |`);
}

try {
  await server.start();
  const idle: number[] = [];
  for (let index = 0; index < idleRequests; index += 1) {
    idle.push(await timed(paths[index % paths.length] as string));
    await sleep(pauseMs);
  }
  const options = { discover: false };
  const scanId = await server.submit({ targets: [address], ports: [web.port], dag: 'small', options });
  const busy: number[] = [];
  let ended = false;
  const end = server.waitForEnd(scanId).finally(() => {
    ended = true;
  });
  for (let index = 0; !ended; index += 1) {
    busy.push(await timed(paths[index % paths.length] as string));
    await sleep(pauseMs);
  }
  const { status, stages } = await end;
  const failed = stages.filter((stage) => stage.status === 'failed').length;
  console.log(
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} processors, Node ${process.versions.node}; the scan ${status}, ${failed} nodes failed. Bar: p99 <= ${barMs} ms.\n`,
  );
  console.log('| | requests | median, ms | p99, ms | longest, ms |\n|---|---|---|---|---|');
  row('before the scan', idle);
  row('while the hostile set runs', busy);
} finally {
  await server.dispose();
  web.server.close();
  home.remove();
}
