import { Readable, Writable } from 'node:stream';
import type { LogLevel } from './hosted-plugin.ts';

/** Of a line; longer ones are cut into several. */
const lineLength = 4096;

/** Turns what plugins print into log lines, and gives them an empty standard input. */
export function divertPrints(log: (level: LogLevel, line: string) => void): void {
  const streams = {
    stdin: Readable.from([]),
    stdout: lines((line) => log('info', line)),
    stderr: lines((line) => log('warn', line)),
  };
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true });
  }
}

function lines(take: (line: string) => void): Writable {
  let rest = '';
  return new Writable({
    decodeStrings: false,
    write(chunk: Buffer | string, _encoding, done) {
      const parts = (rest + chunk.toString()).split('\n');
      rest = parts.pop() ?? '';
      while (rest.length > lineLength) {
        parts.push(rest.slice(0, lineLength));
        rest = rest.slice(lineLength);
      }
      for (const line of parts) take(line.slice(0, lineLength));
      done();
    },
  });
}
