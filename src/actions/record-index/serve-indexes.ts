import type { MessagePort } from 'node:worker_threads';
import { PortolanError } from '../../domain/errors.ts';
import { diskError } from '../../workspace/atomic-file.ts';
import type { FromIndexThread, IndexFailure, ToIndexThread } from './index-requests.ts';
import { IndexService } from './index-service.ts';
import { Turns } from './turns.ts';

/** Responds to the requests that come through a port, several at a time. */
export function serveIndexes(port: MessagePort): void {
  const post = (message: FromIndexThread) => port.postMessage(message);
  const service = new IndexService((isBusy) => post({ type: isBusy ? 'busy' : 'idle' }));
  const running = new Map<number, Turns>();
  port.on('message', (message: ToIndexThread) => {
    switch (message.type) {
      case 'request':
        return void respond(message);
      case 'abort':
        return running.get(message.id)?.abort();
      case 'forget':
        return void service.forget(message.file).catch(() => undefined);
      case 'watched':
        return service.watched(message.file);
      case 'close':
        return void close();
    }
  });

  /** Nothing then holds the thread. */
  async function close(): Promise<void> {
    for (const turns of running.values()) turns.abort();
    await service.close().catch(() => undefined);
    port.close();
  }

  async function respond({ id, scan, request, deadlineMs }: Extract<ToIndexThread, { type: 'request' }>) {
    const turns = new Turns(deadlineMs);
    running.set(id, turns);
    try {
      const response = await service.run(scan, request, turns);
      post({ type: 'response', id, response, size: service.size(scan.file) });
    } catch (error) {
      post({ type: 'failed', id, error: failureOf(error) });
    } finally {
      running.delete(id);
    }
  }
}

function failureOf(thrown: unknown): IndexFailure {
  const error = isFullDatabase(thrown) ? diskError({ code: 'ENOSPC' }) : diskError(thrown);
  if (!(error instanceof Error)) return { code: null, message: String(error), details: {}, stack: null };
  const { code, details } = error instanceof PortolanError ? error : { code: null, details: {} };
  return { code, message: error.message, details, stack: error.stack ?? null };
}

/** SQLITE_FULL. */
function isFullDatabase(error: unknown): boolean {
  return (error as { errcode?: number } | null)?.errcode === 13;
}
