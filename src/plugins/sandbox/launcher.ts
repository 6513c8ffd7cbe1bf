/**
 * Confines itself and becomes the plugin host: `launcher SETTINGS`, as JSON. libuv opens an io_uring at the start of
 * Node.js, so the filter stands before the host starts, not after.
 */
import { writeSync } from 'node:fs';
import { createRequire, flushCompileCache } from 'node:module';
import { dirname, resolve } from 'node:path';
import { launchFilter } from './filter.ts';
import { encodeFrame } from './frames.ts';
import { foreignLibrary, loadKernel } from './kernel.ts';

export interface LauncherSettings {
  /** Script that runs confined. */
  program: string;
  /** Flags of Node.js. */
  flags: string[];
  /** Bytes that a plugin may take in addition to those of the host. */
  memory: number;
  /** Files and folders that the plugin may read. */
  readable: string[];
  /** Id of the process that waits for the host. */
  parent: number;
  /** Highest ABI of Landlock to use. */
  landlockAbi: number;
  /** Start without the parts that this system lacks. */
  allowUnconfined: boolean;
}

const openFiles = 64;
/** Keeps the memory of a busy host small, in MiB: V8 collects more often. */
const youngHeap = '--max-semi-space-size=4';
const environment = { OPENSSL_CONF: '/dev/null', MALLOC_ARENA_MAX: '1' };
/** The first ABI that keeps a file from being moved out of its folder. */
const minLandlockAbi = 2;
const devices = ['/dev/null', '/dev/urandom', '/proc/self'];
const systemLibraries = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/etc/ld.so.cache'];
const mebibyte = 1024 ** 2;

const settings = JSON.parse(process.argv[2] ?? '') as LauncherSettings;
let step = 'Node.js';
/** Parts that this system lacks. */
const lacks: string[] = [];
try {
  launch();
} catch (error) {
  writeSync(1, encodeFrame({ missing: step, reason: (error as Error).message }));
  process.exitCode = 1;
}

function launch(): void {
  if (typeof process.execve !== 'function') throw new Error(`${process.version} has no process.execve`);
  // The host takes its place before Node.js would write it.
  flushCompileCache();
  const { arch } = process;
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`no filter for ${arch}`);
  const kernel = loadKernel();
  kernel.endWithParent();
  // The parent may have ended before that.
  if (process.ppid !== settings.parent) throw new Error('the parent process has ended');
  apply('no_new_privs', () => kernel.dropPrivileges());
  apply('resource limits', () => {
    kernel.limit('fileSize', 0);
    kernel.limit('core', 0);
    kernel.limit('openFiles', openFiles);
  });
  apply('Landlock', () => {
    const abi = Math.min(kernel.landlockAbi(), settings.landlockAbi);
    if (abi < minLandlockAbi) throw new Error(`ABI ${minLandlockAbi} is needed, this kernel has ${abi}`);
    kernel.restrictFiles(abi, [...settings.readable, ...runtime(), ...devices, ...systemLibraries]);
  });
  apply('seccomp', () => kernel.installFilter(launchFilter(arch, process.pid)));
  step = 'start of the host';
  const heap = Math.max(16, Math.floor(settings.memory / mebibyte));
  const flags = ['--no-warnings', youngHeap, `--max-old-space-size=${heap}`, ...settings.flags];
  const args = [process.execPath, ...flags, settings.program, String(settings.memory), JSON.stringify(lacks)];
  process.execve(process.execPath, args, environment);
}

function apply(part: string, work: () => void): void {
  step = part;
  try {
    work();
  } catch (error) {
    if (!settings.allowUnconfined) throw error;
    lacks.push(`${part}: ${(error as Error).message}`);
  }
}

/** Node.js, the programs of the sandbox, the library for foreign function calls and that for YAML. */
function runtime(): string[] {
  const own = import.meta.dirname;
  const yaml = dirname(createRequire(import.meta.url).resolve('yaml/package.json'));
  // Node.js learns the kind of a module from the package file above it.
  return [process.execPath, own, resolve(own, '../../../package.json'), ...foreignLibrary(), yaml];
}
