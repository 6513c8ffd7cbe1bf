import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** What tests start and `test/run.ts` counts. */
export type Started = 'program' | 'server' | 'cluster';

/** File of the folder of a run with one line for each start. */
export const startsFile = 'starts';

export function noteStart(what: Started): void {
  const folder = process.env['PORTOLAN_TEST_FOLDER'];
  if (folder) appendFileSync(join(folder, startsFile), `${what}\n`);
}

/** Counts what a command line starts: also behind `script`, `python3` or `ip netns exec`, which get it as arguments. */
export function noteCommand(words: readonly string[]): void {
  const text = words.join(' ');
  for (const _ of text.matchAll(/\bbin\/portolan\b|(?:^|[\s|;&(])portolan(?= [a-z])/g)) noteStart('program');
  for (const _ of text.matchAll(/\bserver (?:start|restart)\b/g)) noteStart('server');
}
