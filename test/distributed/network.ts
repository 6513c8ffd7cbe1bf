import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Where everything is; no namespace has a route to anything else. */
export const serverAddress = '10.90.0.1';
const targetAddress = '10.90.0.100';
export const targets = '10.91.0.0/20';
export const ports = '8001-8100';
/** What may be open; the other ninety are refused everywhere. */
const openPorts = Array.from({ length: 10 }, (_, index) => 8001 + index);

const inside = join(import.meta.dirname, 'inside.ts');

interface Answer {
  id: number;
  result?: unknown;
  error?: string;
}

/** A process in a namespace that does what it is asked. */
export class NamespaceProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #asked = 0;

  constructor(namespace: string) {
    this.#child = spawn('ip', ['netns', 'exec', namespace, process.execPath, inside], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message) => {
      const { id, result, error } = message as Answer;
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error));
    });
  }

  ask<T>(order: Record<string, unknown>): Promise<T> {
    const id = ++this.#asked;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.send({ id, ...order });
    });
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

/**
 * A home, some workers and a network of 4096 addresses behind one router, each in a network namespace of its own on one
 * bridge. Every second /25 of the targets is empty; a host has two of ten ports open and refuses the others.
 */
export class TestNetwork {
  readonly #prefix = `pld${process.pid}`;
  readonly #insides: NamespaceProcess[] = [];
  readonly home: string;
  readonly workers: string[];
  readonly target: string;
  #listeners: NamespaceProcess | null = null;

  constructor(workers: number) {
    this.home = `${this.#prefix}-home`;
    this.target = `${this.#prefix}-target`;
    this.workers = Array.from({ length: workers }, (_, index) => `${this.#prefix}-w${index + 1}`);
  }

  async up(): Promise<void> {
    const bridge = `${this.#prefix}-net`;
    this.#ip('netns', 'add', bridge);
    this.#ip('-n', bridge, 'link', 'add', 'br0', 'type', 'bridge');
    this.#ip('-n', bridge, 'link', 'set', 'br0', 'up');
    this.#host(this.home, `${serverAddress}/24`);
    for (const name of this.workers) this.#host(name, `${this.addressOf(name)}/24`);
    const { target } = this;
    this.#host(target, `${targetAddress}/24`);
    this.#ip('-n', target, 'route', 'add', 'local', targets, 'dev', 'lo');
    for (const name of [this.home, ...this.workers])
      this.#ip('-n', name, 'route', 'add', targets, 'via', targetAddress);
    execFileSync('ip', ['netns', 'exec', target, 'nft', '-f', '-'], { input: targetRules() });
    this.#listeners = this.inside(target);
    await this.#listeners.ask({ kind: 'listen', ports: openPorts });
  }

  /** A helper process in a namespace. */
  inside(namespace: string): NamespaceProcess {
    const helper = new NamespaceProcess(namespace);
    this.#insides.push(helper);
    return helper;
  }

  /** Starts this program, or another one, in a namespace. */
  spawn(namespace: string, command: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
    return spawn('ip', ['netns', 'exec', namespace, command, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Cuts a worker off from the home, or lets it reach that again; it reaches the targets all the time. */
  cut(worker: string, isCut = true): void {
    const chain = 'chain input { type filter hook input priority 0; ip saddr';
    const rules = isCut ? `table ip cut { ${chain} ${serverAddress} drop; }; }` : 'delete table ip cut';
    execFileSync('ip', ['netns', 'exec', worker, 'nft', '-f', '-'], { input: `${rules}\n` });
  }

  /** Address of a worker. */
  addressOf(worker: string): string {
    return `10.90.0.${11 + this.workers.indexOf(worker)}`;
  }

  /** Notes when SYNs reach the targets, of all or of one source, epoch milliseconds by the clock of the kernel. */
  async capture(): Promise<{ times(source?: string): number[]; stop(): Promise<void> }> {
    const syns = `dst net ${targets} and tcp[tcpflags] & (tcp-syn | tcp-ack) == tcp-syn`;
    const child = this.spawn(this.target, 'tcpdump', ['-i', 'eth0', '-l', '-n', '-tt', '-q', syns], {});
    let lines = '';
    child.stdout?.on('data', (chunk: Buffer) => (lines += chunk.toString()));
    await new Promise<void>((resolve) => {
      child.stderr?.on('data', (chunk: Buffer) => chunk.includes('listening on') && resolve());
    });
    return {
      times: (source = '') =>
        [...lines.matchAll(/^(\d+\.\d+) IP (\S+)\.\d+ > /gm)].flatMap(([, seconds, from = '']) =>
          source === '' || from === source ? [Number(seconds) * 1000] : [],
        ),
      stop: async () => {
        // With its output, which comes after its end.
        const closed = once(child, 'close');
        child.kill('SIGINT');
        await closed;
      },
    };
  }

  down(): void {
    for (const helper of this.#insides) helper.end();
    const names = [this.home, ...this.workers, this.target, `${this.#prefix}-net`];
    for (const name of names) {
      try {
        execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
      } catch {
        // It was never made.
      }
    }
  }

  #host(name: string, address: string): void {
    const bridge = `${this.#prefix}-net`;
    const port = name.slice(this.#prefix.length + 1);
    this.#ip('netns', 'add', name);
    this.#ip('-n', bridge, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    this.#ip('-n', bridge, 'link', 'set', port, 'master', 'br0', 'up');
    this.#ip('-n', name, 'addr', 'add', address, 'dev', 'eth0');
    this.#ip('-n', name, 'link', 'set', 'eth0', 'up');
    this.#ip('-n', name, 'link', 'set', 'lo', 'up');
  }

  #ip(...args: string[]): void {
    execFileSync('ip', args);
  }
}

/** What is open, as `HOST PORT`. */
export function truth(): string[] {
  return [...openPairs()].map(([host, port]) => `${host} ${port}`).sort();
}

function* openPairs(): Generator<[string, number]> {
  for (let high = 0; high < 16; high++) {
    // The first and the last address of a block are no hosts.
    for (let low = high === 0 ? 1 : 0; low < 128; low++) {
      const host = `10.91.${high}.${low}`;
      const first = (high * 7 + low) % 10;
      yield [host, 8001 + first];
      yield [host, 8001 + ((first + 3) % 10)];
    }
  }
}

function targetRules(): string {
  const open = [...openPairs()].map(([host, port]) => `${host} . ${port}`).join(', ');
  const empty = Array.from({ length: 16 }, (_, high) => `10.91.${high}.128/25`).join(', ');
  return `table ip lab {
  set open { type ipv4_addr . inet_service; elements = { ${open} } }
  set empty { type ipv4_addr; flags interval; elements = { ${empty} } }
  chain input {
    type filter hook input priority 0
    ip daddr @empty drop
    ip daddr 10.91.0.0/20 tcp flags & (syn | ack) == syn ip daddr . tcp dport != @open reject with tcp reset
  }
}
`;
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
