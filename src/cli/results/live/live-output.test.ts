import { expect, it } from 'vitest';
import type { PortRow } from '../../../domain/result.ts';
import { liveLines } from './live-lines.ts';
import { LiveOutput } from './live-output.ts';

function port(number: number): PortRow {
  const place = { host: '192.0.2.10', port: number, protocol: 'tcp' as const };
  return { type: 'port', timestamp: '', ...place, state: 'open', reason: 'syn-ack' };
}

it('lines of one turn are written together, and those a slow reader has no room for at the end', async () => {
  const written: string[] = [];
  let backlog = 0;
  const write = (text: string) => void written.push(text);
  const output = new LiveOutput(liveLines('hostport'), { write, backlog: () => backlog });
  output.row(port(1));
  output.row(port(2));
  await Promise.resolve();
  backlog = 2 ** 21;
  output.row(port(3));
  output.stop();
  const rows = (async function* () {
    yield* [port(1), port(2), port(3)];
  })();
  for await (const line of output.rest(rows, null)) written.push(line);
  expect(written).toEqual(['192.0.2.10:1\n192.0.2.10:2\n', '192.0.2.10:3\n']);
});
