/** Thread that calls `execute` of the plugin, which blocks. */
import { parentPort } from 'node:worker_threads';
import type { ThreadSettings } from './exchange.ts';
import { freeFunction, intFunction, setStackSize } from './foreign.ts';
import { hostFunctions } from './host-functions.ts';
import { ItemReader } from './item-reader.ts';
import { ItemWriter } from './item-writer.ts';
import { callForError } from './plugin-struct.ts';
import { ThreadCalls } from './thread-calls.ts';

/** Of the C code; as much as the main thread of a C program usually has. */
const stackBytes = 8 * 1024 ** 2;

setStackSize(stackBytes);
parentPort?.on('message', run);

function run(settings: ThreadSettings): void {
  const calls = new ThreadCalls(settings.port, settings.control);
  const writer = new ItemWriter(calls);
  const reader = new ItemReader(calls, () => writer.flush());
  const functions = hostFunctions({ calls, reader, writer, deadline: settings.deadline });
  const execute = intFunction(settings.execute, ['const void *', 'size_t', 'size_t', 'void *']);
  // A NUL at the end, for plugins that take the context as a string.
  const context = Buffer.from(`${settings.context}\0`);
  const outcome = callForError(
    (error) => execute(context, context.length - 1, functions.address, error),
    freeFunction(settings.free),
  );
  functions.release();
  writer.flush();
  calls.end(outcome);
}
