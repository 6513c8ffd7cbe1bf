/** Runs inside the sandbox: `self-test-host MEMORY`. Frames come on stdin and go to stdout. It tries to break out. */
import { writeSync } from 'node:fs';
import { type AttemptRequest, tryToEscape } from './attempts.ts';
import { confineHost } from './confine.ts';
import { encodeFrame, type Frame, FrameReader } from './frames.ts';

/** Of a frame from the parent, which is trusted. */
const inputBytes = 1024 ** 3;
const giant = 1024 ** 3;

type Request = { id: number } & ({ echo: unknown } | { flood: true } | AttemptRequest);

const kernel = confineHost(Number(process.argv[2]));
const reader = new FrameReader(inputBytes);
process.stdin.on('data', (chunk: Buffer) => {
  for (const frame of reader.push(chunk)) answer(frame);
});
process.stdin.on('end', () => process.exit(0));
process.stdout.write(encodeFrame({ ready: true }));

function answer({ message, bytes }: Frame): void {
  const request = message as Request;
  if ('echo' in request) {
    process.stdout.write(encodeFrame({ id: request.id, value: request.echo }, bytes));
  } else if ('flood' in request) {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(giant, 4);
    writeSync(1, head);
  } else {
    process.stdout.write(encodeFrame({ id: request.id, value: tryToEscape(kernel, request) }));
  }
}
