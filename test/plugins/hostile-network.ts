import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Namespace } from '../../src/net/packets/fixtures/namespace.ts';
import { root } from '../program.ts';

/** May be scanned; its web server leads on to `excluded`. */
export const target = '10.77.0.2';
/** Has the same server. */
export const excluded = '10.77.0.5';
/** Behind a route, with the same server. */
export const outside = '10.78.0.1';
/** Of the target. */
export const webPort = 8077;

const web = `
const pages = require('node:http').createServer((request, response) =>
  response.writeHead(302, { location: 'http://${excluded}:${webPort}/' }).end());
pages.listen(${webPort}, () => console.log('listening'));`;

export interface NetworkRun {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Destinations of what arrived, as `ADDRESS.PORT` or `who-has ADDRESS`, but for `who-has` of the target; each once. */
  destinations: string[];
}

/** The host of the scanner and one with many addresses on a link without a way out. */
export class HostileNetwork {
  readonly #scanner = new Namespace();
  readonly #others = new Namespace();
  readonly #children: ChildProcess[] = [];

  static async open(): Promise<HostileNetwork> {
    const network = new HostileNetwork();
    const server = network.#spawn(network.#others, [process.execPath, '-e', web]);
    await once(server.stdout as NodeJS.ReadableStream, 'data');
    return network;
  }

  private constructor() {
    const [scanner, others] = [this.#scanner, this.#others];
    // Neighbors of IPv6 would disturb the capture.
    for (const one of [scanner, others]) one.exec('sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1');
    scanner.join('eth0', others);
    scanner.ip('addr add 10.77.0.1/24 dev eth0');
    for (const address of [target, excluded]) others.ip(`addr add ${address}/24 dev eth0`);
    others.ip(`addr add ${outside}/24 dev eth0`);
    scanner.ip(`route add 10.78.0.0/24 via ${target}`);
  }

  /**
   * Runs the program in the namespace of the scanner and captures what arrives at the other host.
   * @param user id; without it root
   */
  async run(
    args: string[],
    { env, user, started }: { env: NodeJS.ProcessEnv; user?: number; started?: (pid: number) => void },
  ): Promise<NetworkRun> {
    const capture = this.#spawn(this.#others, ['tcpdump', '-i', 'eth0', '-Q', 'in', '-nn', '-l']);
    const frames = text(capture.stdout as NodeJS.ReadableStream);
    await once(capture.stderr as NodeJS.ReadableStream, 'data');
    await sleep(200);
    const drop =
      user === undefined
        ? []
        : [
            'setpriv',
            `--reuid=${user}`,
            `--regid=${user}`,
            '--clear-groups',
            '--bounding-set=-all',
            '--inh-caps=-all',
          ];
    const child = this.#spawn(this.#scanner, [...drop, `${root}/bin/portolan`, ...args], env);
    started?.(child.pid as number);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    await sleep(500);
    capture.kill('SIGINT');
    return { code, stdout, stderr, destinations: destinationsOf(await frames) };
  }

  /** Sends one datagram past the program, which the capture must show. */
  sendAside(address: string): void {
    const send = `const socket = require('node:dgram').createSocket('udp4'); socket.send('x', 4669, '${address}', () => socket.close())`;
    execFileSync('ip', ['netns', 'exec', this.#scanner.name, process.execPath, '-e', send]);
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    this.#scanner.close();
    this.#others.close();
  }

  #spawn({ name }: Namespace, command: string[], env = process.env): ChildProcess {
    const child = spawn('ip', ['netns', 'exec', name, ...command], { env, cwd: '/' });
    this.#children.push(child);
    return child;
  }
}

function destinationsOf(frames: string): string[] {
  const found = frames.split('\n').flatMap((frame) => {
    const [, asked] = /who-has (\S+?),? /.exec(frame) ?? [];
    const [, to] = / IP6? \S+ > (\S+): /.exec(frame) ?? [];
    // Whether the target's is still known changes from run to run.
    if (asked !== undefined) return asked === target ? [] : [`who-has ${asked}`];
    // What is neither: ARP replies about the scanner itself.
    return to !== undefined ? [to] : frame === '' || frame.includes('ARP, Reply') ? [] : [frame];
  });
  return [...new Set(found)].sort();
}
