import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemble } from '../../src/plugins/host/fixtures/assemble.ts';
import { compilePlugin } from '../c-plugin.ts';
import { root, type ServerProcess } from '../program.ts';

const source = join(root, 'src/plugins/host/native/fixtures/hostile.c');

/** Why a node failed; null: it completes. */
type Cause = RegExp | null;

/** Of the kernel: EPERM, ENOENT, ENOMEM, EACCES. */
const [permission, , memory, access] = [1, 2, 12, 13];

/** What the kernel says to each attempt of the C code. */
export const denials: Record<string, number> = {
  ...Object.fromEntries(
    [
      'tcp',
      'udp',
      'raw',
      'packet',
      'netlink',
      'unix',
      'io_uring',
      'fork',
      'vfork',
      'execve',
      'ptrace',
      'vm_readv',
    ].map((name) => [name, permission]),
  ),
  ...Object.fromEntries(
    ['kill_parent', 'kill_init', 'kill_all', 'pidfd', 'outlive', 'memfd'].map((name) => [name, permission]),
  ),
  ...Object.fromEntries(
    ['environ', 'mem', 'fd', 'create', 'mkdir', 'symlink', 'passwd'].map((name) => [name, access]),
  ),
  malloc: memory,
};

const native: [mode: string, cause: Cause][] = [
  ['crash', /ended by SIGSEGV/],
  ['loop', /ran longer than/],
  // V8 reports the limit where it gets no memory; C code crashes there.
  ['grow', /memory limit of|ended by SIGSEGV/],
  ['pipe_garbage', /frame of 1073741824 bytes, above the limit/],
  ['silence', /ran longer than/],
  ['wrong_type', /item 0 of "vulnerabilities" has/],
  ['outside', /discovered_hosts/],
  ['escape', /^[^\p{Cc}]*\[2Jgone[^\p{Cc}]*$/u],
  ['escapes', null],
  ['intrusions', /tcp=1 udp=1 /],
];

/** Every attempt by the modules of Node.js; the error names the code of each. */
const scriptIntruder = (address: string, file: string) => `
import { fork, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
const attempts = {
  spawn() { const { error } = spawnSync('/bin/true'); if (error) throw error; },
  async fork() { await once(fork('${file}'), 'exit'); },
  async tcp() { await once(connect(4663, '${address}'), 'connect'); },
  async udp() { await new Promise((done, fail) => {
    createSocket('udp4').on('error', fail).send('x', 4664, '${address}', (error) => error ? fail(error) : done());
  }); },
  async fetch() { await fetch('http://${address}:4665/').catch((error) => { throw error.cause; }); },
  write: () => writeFileSync('${file}', 'x'),
  folder: () => mkdirSync('${file}.d'),
  self: () => appendFileSync(new URL(import.meta.url), '//'),
  environ: () => readFileSync('/proc/' + process.ppid + '/environ'),
  kill: () => process.kill(process.ppid, 0),
};
export const Plugin = {
  name: 'script_intruder', version: '1.0.0', description: '', requires: ['open_ports'], provides: ['vulnerabilities'],
  async execute() {
    const said = [];
    for (const [name, attempt] of Object.entries(attempts)) {
      try { await attempt(); said.push(name + '=allowed'); } catch (error) { said.push(name + '=' + error.code); }
    }
    throw new Error(said.join(' '));
  },
};
`;

const script = (name: string, execute: string) => `
export const Plugin = {
  name: '${name}', version: '1.0.0', description: '', requires: ['open_ports'], provides: ['vulnerabilities'],
  async execute(ctx, data) { ${execute} },
};
`;

const wasm = (name: string, execute: string) => `(module
  (@custom "service.metadata" "{\\"name\\":\\"${name}\\",\\"type\\":\\"evaluation\\",\\"version\\":\\"1.0.0\\","
    "\\"requires\\":[\\"open_ports\\"],\\"provides\\":[\\"vulnerabilities\\"]}")
  (import "service" "error" (func $error (param i32 i32)))
  (memory (export "memory") 1) (data (i32.const 0) "no more memory")
  (func (export "execute") (param i32) (result i32) ${execute}))`;

export interface HostileSet {
  files: string[];
  /** By module. */
  causes: Record<string, Cause>;
}

/**
 * Writes plugins that try what a plugin must not do.
 * @param address that those which send would send to
 * @param file what those which write would write
 */
export async function writeHostileSet(folder: string, address: string, file: string): Promise<HostileSet> {
  const causes: Record<string, Cause> = {};
  const files = native.map(([mode, cause]) => {
    causes[`native_${mode}`] = cause;
    const values = { NAME: `native_${mode}`, MODE: mode, ADDRESS: address, FILE_TO_WRITE: file };
    const flags = Object.entries(values).map(([name, value]) => `-D${name}="${value}"`);
    return compilePlugin(folder, source, `native-${mode}`, flags);
  });
  const write = (name: string, content: string | Buffer, module: string, cause: Cause) => {
    writeFileSync(join(folder, name), content);
    causes[module] = cause;
    files.push(join(folder, name));
  };
  const codes =
    /^spawn=EPERM fork=EPERM tcp=EPERM udp=EPERM fetch=EPERM write=(?:EPERM|EACCES) folder=EACCES self=(?:EPERM|EACCES) environ=EACCES kill=EPERM /;
  write('intruder.mjs', scriptIntruder(address, file), 'script_intruder', codes);
  const fill = 'const kept = []; for (;;) kept.push(new Array(1000000).fill(0.5));';
  write('heap.mjs', script('script_heap', fill), 'script_heap', /memory limit of/);
  const late = 'setTimeout(() => { throw new Error("late"); }, 10); await new Promise(() => {});';
  write('late.mjs', script('script_late', late), 'script_late', /uncaught error: .*late/);
  const loop = '(loop $again (br $again)) (i32.const 0)';
  write('loop.wasm', await assemble(wasm('wasm_loop', loop)), 'wasm_loop', /ran longer than/);
  const grow = `(drop (memory.grow (i32.const 65535)))
    (if (i32.eq (memory.grow (i32.const 1024)) (i32.const -1)) (then (call $error (i32.const 0) (i32.const 14))))
    (i32.const 1)`;
  write('grow.wasm', await assemble(wasm('wasm_memory', grow)), 'wasm_memory', /^no more memory/);
  return { files, causes };
}

/** The attempts of the C code by what the kernel said. */
export function deniedOf(error: string): Record<string, number> {
  const pairs = [...error.matchAll(/(\w+)=(\d+)/g)];
  return Object.fromEntries(pairs.map(([, name, errno]) => [name as string, Number(errno)]));
}

/** A graph that the hostile plugins join. */
export const hostileGraph = `name: small
nodes:
  - {instance_id: ports, module_type: connect_scanner}
  - {instance_id: banners, module_type: banner_grabber, depends_on: [ports]}
  - {instance_id: report, module_type: json_reporter, depends_on: [banners]}
`;

/** Timeout: for two processors and twenty hosts at once. */
export const hostileLimits = {
  SERVICE_PLUGINS__LIMITS__TIMEOUT: '30s',
  SERVICE_PLUGINS__LIMITS__MEMORY: '128MB',
};

/** What is looked at of the JSON of a scan. */
export interface HostileResult {
  scan_id: string;
  status: string;
  warnings: { code: string; message: string; node?: string }[];
  results: { host: string; ports: { port: number; banner: string; vulnerabilities: { id: string }[] }[] }[];
}

/** By module, why its node failed; the node has the name of the module. */
export function failuresOf({ warnings }: HostileResult): Record<string, string> {
  const failed = warnings.filter(({ code }) => code === 'node_failed');
  return Object.fromEntries(
    failed.map(({ node = '', message }) => [node, message.split(' failed: ')[1] ?? '']),
  );
}

/** What is not as expected of the failed nodes, a line each. */
export function wrongCauses({ causes }: HostileSet, failures: Record<string, string>): string[] {
  const wrong = Object.entries(causes).filter(([module, cause]) =>
    cause === null ? module in failures : !cause.test(failures[module] ?? ''),
  );
  const others = Object.keys(failures).filter((module) => !(module in causes));
  return [...wrong.map(([module]) => module), ...others].map((module) => `${module}: ${failures[module]}`);
}

/** Follows the descendants of a process while it runs. */
export class ProcessWatch {
  /** When each of them started, by id: ids are used again. */
  readonly #seen = new Map<number, string>();
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#timer = setInterval(() => this.#add(pid), 20);
  }

  /** Programs that the plugins ran in, as far as they were seen. */
  get count(): number {
    return this.#seen.size;
  }

  /** Ends the watch. @returns ids of those that still run */
  left(): number[] {
    clearInterval(this.#timer);
    return [...this.#seen].flatMap(([pid, start]) => (startOf(pid) === start ? [pid] : []));
  }

  /** Those of a server but its one process that waits for the next scan. */
  leftOf(server: ServerProcess): { left: number[]; waiting: number } {
    const waiting = server.scanProcesses();
    return { left: this.left().filter((pid) => !waiting.includes(pid)), waiting: waiting.length };
  }

  #add(parent: number): void {
    for (const pid of childrenOfAllThreads(parent)) {
      const start = startOf(pid);
      if (start !== null) this.#seen.set(pid, start);
      this.#add(pid);
    }
  }
}

function childrenOfAllThreads(pid: number): number[] {
  const read = (path: string) => readFileSync(`/proc/${pid}/task/${path}`, 'utf8');
  try {
    const lists = readdirSync(`/proc/${pid}/task`).map((thread) => read(`${thread}/children`));
    return lists.join(' ').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Clock ticks from boot to the start of a process; null if it has ended. */
function startOf(pid: number): string | null {
  try {
    const [state, , , , ...more] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return state === 'Z' ? null : (more[15] ?? null);
  } catch {
    return null;
  }
}
