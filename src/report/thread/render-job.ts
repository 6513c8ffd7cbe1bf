import type { MessagePort } from 'node:worker_threads';
import { PortolanError } from '../../domain/errors.ts';
import { recordAt } from '../../workspace/record/folder-record.ts';
import { renderReport } from '../render-report.ts';
import { type FromReport, piecesAhead, type ReportFailure, type ReportJob } from './report-job.ts';

/** Size of a piece, bytes. */
const pieceBytes = 64 * 1024;

/** Renders a report and sends it in pieces, at most `piecesAhead` more than the reader has taken. */
export async function renderJob(job: ReportJob, port: MessagePort): Promise<void> {
  const sender = new PieceSender(port);
  try {
    await sendReport(job, sender);
    sender.post({ type: 'end' });
  } catch (error) {
    sender.post({ type: 'failed', error: failureOf(error) });
  } finally {
    port.close();
  }
}

async function sendReport(job: ReportJob, sender: PieceSender): Promise<void> {
  const view = await recordAt(job.record).open();
  try {
    if (job.recorded && !view.exists) throw new PortolanError('not_found', 'There is no such scan.');
    view.accept(job.fault);
    const source = { facts: job.facts, options: job.options, rows: () => view.rows() };
    for await (const bytes of inPieces(renderReport(job.format, source, job.fix))) await sender.send(bytes);
  } finally {
    await view.close();
  }
}

/** The same bytes in larger pieces, each in a buffer of its own. The first is sent at once. */
async function* inPieces(parts: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let held: Uint8Array[] = [];
  let size = 0;
  let least = 1;
  for await (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    held.push(bytes);
    size += bytes.length;
    if (size < least) continue;
    yield joined(held, size);
    [held, size, least] = [[], 0, pieceBytes];
  }
  if (size > 0) yield joined(held, size);
}

/** Never a part of a pool, so that its memory can be transferred. */
function joined(parts: Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

class PieceSender {
  readonly #port: MessagePort;
  #untaken = 0;
  #wake: (() => void) | null = null;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', () => {
      this.#untaken -= 1;
      this.#wake?.();
    });
  }

  async send(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    while (this.#untaken >= piecesAhead) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#untaken += 1;
    this.#port.postMessage({ type: 'piece', bytes } satisfies FromReport, [bytes.buffer]);
  }

  post(message: FromReport): void {
    this.#port.postMessage(message);
  }
}

function failureOf(error: unknown): ReportFailure {
  if (!(error instanceof Error)) return { code: null, message: String(error), details: {}, stack: null };
  const { code, details } = error instanceof PortolanError ? error : { code: null, details: {} };
  return { code, message: error.message, details, stack: error.stack ?? null };
}
