import { monotonicMs } from './exchange.ts';
import { addressOf, readString, registerCallback, unregisterCallback, writePointer } from './foreign.ts';
import type { ItemReader, ReadOutcome } from './item-reader.ts';
import type { ItemWriter, WriteOutcome } from './item-writer.ts';
import { abiVersion } from './plugin-struct.ts';
import type { ThreadCalls } from './thread-calls.ts';

interface Services {
  calls: ThreadCalls;
  reader: ItemReader;
  writer: ItemWriter;
  /** Monotonic milliseconds, or null. */
  deadline: number | null;
}

/** The structure `service_host` of sdk/c/service_plugin.h in memory. */
export interface HostFunctions {
  address: bigint;
  /** Afterward no function of it may be called. */
  release(): void;
}

/** Results of the functions, as the header lists them. */
const codes: Record<Exclude<ReadOutcome, object> | WriteOutcome, number> = {
  ok: 0,
  'no key': 1,
  canceled: 2,
  end: 3,
  failed: 5,
};
/** Bytes of one call of append or set. */
const maxJsonBytes = 64 * 1024 ** 2;
/** Maximum length of a log message, characters. */
const maxLogCharacters = 2000;

const forReading = ['size_t', 'const char *', 'size_t', 'size_t'];
const forWriting = ['size_t', 'const char *', 'size_t', 'size_t'];

type Address = number;

export function hostFunctions({ calls, reader, writer, deadline }: Services): HostFunctions {
  const read = (name: 'get' | 'next') => (_: Address, key: string | null, json: Address, length: Address) =>
    guarded(calls, () => {
      if (key === null || json === 0 || length === 0) return misuse(calls, name);
      const outcome = reader[name](key);
      if (typeof outcome === 'string') return codes[outcome];
      writePointer(json, outcome.address);
      writePointer(length, outcome.length);
      writer.flushOld();
      return codes.ok;
    });
  const write = (name: 'set' | 'append') => (_: Address, key: string | null, json: Address, length: number) =>
    guarded(calls, () => {
      if (key === null || json === 0) return misuse(calls, name);
      if (length > maxJsonBytes) {
        calls.fail(`${name}("${key}"): ${length} bytes of JSON, at most ${maxJsonBytes}`);
        return codes.failed;
      }
      return codes[writer[name](key, readString(json, length))];
    });
  const canceled = () => {
    writer.flushOld();
    return calls.canceled || calls.failure !== null ? 1 : 0;
  };
  const remaining = () => (deadline === null ? -1 : Math.max(0, Math.floor(deadline - monotonicMs())));
  const log = (_: Address, level: number, message: string | null) => {
    if (message !== null) calls.log(level, message.slice(0, maxLogCharacters));
  };
  const release = (_: Address, buffer: Address) => reader.release(buffer);

  // In the order of the structure.
  const callbacks = [
    registerCallback(read('get'), 'int', forReading),
    registerCallback(read('next'), 'int', forReading),
    registerCallback(write('set'), 'int', forWriting),
    registerCallback(write('append'), 'int', forWriting),
    registerCallback(canceled, 'int', ['size_t']),
    registerCallback(remaining, 'int64_t', ['size_t']),
    registerCallback(log, 'void', ['size_t', 'int', 'const char *']),
    registerCallback(release, 'void', ['size_t', 'size_t']),
  ];
  const structure = new BigUint64Array(new ArrayBuffer((2 + callbacks.length) * 8));
  const address = addressOf(structure.buffer);
  // The handle is of no use here, but authors may check that it is not NULL.
  structure.set([BigInt(abiVersion), address, ...callbacks]);
  return {
    address,
    release: () => {
      for (const callback of callbacks) unregisterCallback(callback);
      // Keeps the structure in memory until here.
      structure.fill(0n);
    },
  };
}

/** An error must not pass through C. */
function guarded(calls: ThreadCalls, act: () => number): number {
  if (calls.failure !== null) return codes.failed;
  if (calls.canceled) return codes.canceled;
  try {
    return act();
  } catch (error) {
    calls.fail((error as Error).message);
    return codes.failed;
  }
}

function misuse(calls: ThreadCalls, name: string): number {
  calls.fail(`${name} was called with NULL`);
  return codes.failed;
}
