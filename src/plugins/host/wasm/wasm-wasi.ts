import type { LogLevel } from '../hosted-plugin.ts';
import { unsigned, WasmFault, type WasmMemory } from './wasm-memory.ts';

/** Names of wasi_snapshot_preview1. */
export const wasiModule = 'wasi_snapshot_preview1';

const ok = 0;
const badDescriptor = 8;
const invalid = 28;
const noSystemCall = 52;
const monotonicClock = 1;
const randomBytes = 65_536;
/** Of one `fd_write`. */
const maxVectors = 1024;
const printBytes = 65_536;
/** Of a printed line; longer ones are cut into several. */
const lineBytes = 4096;
const characterDevice = 2;
const descriptorBytes = 24;

/** Whatever compilers link in, without an effect: there are no files, no sockets, no arguments and no wall clock. */
const absent = [
  'fd_advise fd_allocate fd_datasync fd_fdstat_set_flags fd_fdstat_set_rights fd_filestat_get fd_filestat_set_size',
  'fd_filestat_set_times fd_pread fd_prestat_get fd_prestat_dir_name fd_pwrite fd_readdir fd_renumber fd_seek fd_sync',
  'fd_tell path_create_directory path_filestat_get path_filestat_set_times path_link path_open path_readlink',
  'path_remove_directory path_rename path_symlink path_unlink_file',
]
  .join(' ')
  .split(' ');
const unsupported = ['poll_oneoff', 'proc_raise', 'sock_accept', 'sock_recv', 'sock_send', 'sock_shutdown'];

/** Functions of the import module. */
export const wasiNames = [
  ...absent,
  ...unsupported,
  'args_get',
  'args_sizes_get',
  'environ_get',
  'environ_sizes_get',
  'clock_res_get',
  'clock_time_get',
  'fd_close',
  'fd_fdstat_get',
  'fd_read',
  'fd_write',
  'proc_exit',
  'random_get',
  'sched_yield',
];

type WasiCall = (...values: unknown[]) => number;

/** @param memory the module's, once it is instantiated */
export function wasiStubs(
  memory: () => WasmMemory,
  log: (level: LogLevel, line: string) => void,
): Record<string, WasiCall> {
  const prints = { 1: new Lines((line) => log('info', line)), 2: new Lines((line) => log('warn', line)) };
  const linesOf = (descriptor: unknown) => prints[unsigned(descriptor) as 1 | 2];
  const noCounts: WasiCall = (count, size) => {
    memory().setU32(count, 0, 'WASI count');
    memory().setU32(size, 0, 'WASI size');
    return ok;
  };
  return {
    ...Object.fromEntries(absent.map((name) => [name, () => badDescriptor])),
    ...Object.fromEntries(unsupported.map((name) => [name, () => noSystemCall])),
    args_get: () => ok,
    args_sizes_get: noCounts,
    environ_get: () => ok,
    environ_sizes_get: noCounts,
    clock_res_get: (clock, out) => {
      if (unsigned(clock) !== monotonicClock) return invalid;
      memory().setU64(out, 1000n, 'clock_res_get');
      return ok;
    },
    clock_time_get: (clock, _precision, out) => {
      if (unsigned(clock) !== monotonicClock) return invalid;
      memory().setU64(out, process.hrtime.bigint(), 'clock_time_get');
      return ok;
    },
    fd_close: (descriptor) => (linesOf(descriptor) ? ok : badDescriptor),
    fd_fdstat_get: (descriptor, out) => {
      if (!linesOf(descriptor)) return badDescriptor;
      const stat = memory().bytes(out, descriptorBytes, 'fd_fdstat_get');
      stat.fill(0);
      stat[0] = characterDevice;
      return ok;
    },
    fd_read: (descriptor, _vectors, _count, out) => {
      if (unsigned(descriptor) !== 0) return badDescriptor;
      memory().setU32(out, 0, 'fd_read');
      return ok;
    },
    fd_write: (descriptor, vectors, count, out) => {
      const lines = linesOf(descriptor);
      if (!lines) return badDescriptor;
      const bytes = gather(memory(), vectors, count);
      lines.write(bytes);
      memory().setU32(out, bytes.length, 'fd_write');
      return ok;
    },
    proc_exit: (code) => {
      throw new WasmFault(`the module called proc_exit(${Number(code) | 0})`);
    },
    random_get: (pointer, length) => {
      const bytes = memory().bytes(pointer, length, 'random_get');
      for (let from = 0; from < bytes.length; from += randomBytes) {
        crypto.getRandomValues(bytes.subarray(from, from + randomBytes) as Uint8Array<ArrayBuffer>);
      }
      return ok;
    },
    sched_yield: () => ok,
  };
}

/** The first bytes of a list of (pointer, length): a print may be short, and is repeated for the rest. */
function gather(memory: WasmMemory, vectors: unknown, count: unknown): Buffer {
  const number = unsigned(count);
  if (number > maxVectors)
    throw new WasmFault(`fd_write: ${number} vectors, above the limit of ${maxVectors}`);
  const list = Buffer.from(memory.bytes(vectors, number * 8, 'fd_write'));
  const parts: Uint8Array[] = [];
  let room = printBytes;
  for (let at = 0; at < list.length && room > 0; at += 8) {
    const part = memory.bytes(list.readUInt32LE(at), list.readUInt32LE(at + 4), 'fd_write').subarray(0, room);
    parts.push(part);
    room -= part.length;
  }
  return Buffer.concat(parts);
}

/** Cuts what is printed into lines. */
class Lines {
  readonly #take: (line: string) => void;
  #rest = '';

  constructor(take: (line: string) => void) {
    this.#take = take;
  }

  write(bytes: Buffer): void {
    const lines = (this.#rest + bytes.toString('utf8')).split('\n');
    this.#rest = lines.pop() ?? '';
    while (this.#rest.length > lineBytes) {
      lines.push(this.#rest.slice(0, lineBytes));
      this.#rest = this.#rest.slice(lineBytes);
    }
    for (const line of lines) if (line !== '') this.#take(line.slice(0, lineBytes));
  }
}
