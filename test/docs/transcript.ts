import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../program.ts';
import { blocksOf, consoleText, readPage, type Step, stepsOf } from './page.ts';
import type { Printed } from './shell.ts';

/** Set to write what the commands print now into the page: look at the difference before you commit it. */
const writes = process.env['PORTOLAN_DOCS_WRITE'] === '1';

/** What the page claims and what the program prints, in the same words where only times, ids and sizes differ. */
export interface Compared {
  command: string;
  page: string;
  program: string;
}

/** A `console` block of a page with what its commands printed. */
export interface RunBlock {
  text: string;
  steps: { step: Step; printed: Printed }[];
}

/** Differs from run to run, or from machine to machine, and the word that stands for it. */
const changing: [RegExp, string][] = [
  [/[ \t]+/g, ' '],
  [/\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT/g, 'TIME'],
  [/\d{8}-\d{6}-[0-9a-f]{6}/g, 'SCAN'],
  [/job-[a-z0-9]{4,16}/g, 'JOB'],
  [/svc_[a-z0-9]{6}_[\w-]+/g, 'TOKEN'],
  [/\b[0-9a-f]{64}\b/g, 'SHA256'],
  [/\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?/g, 'TIME'],
  [/\d{4}-\d{2}-\d{2}/g, 'DAY'],
  [/\b[A-Z][a-z]{2} \d{1,2}, \d{2}:\d{2} UTC/g, 'TIME'],
  [/(\bin )?(\b\d+(\.\d+)? ?(ms|s|min|h|d|days?|weeks?|months?)\b ?)+(ago\b ?)?|\bnow\b/g, 'TIME '],
  [/\b\d+(\.\d+)? ?(([KMG]i?)?B|bytes)\b/gi, 'SIZE'],
  [/\b(pid|process) \d+/gi, '$1 N'],
  // Of the Python and the curl of this machine.
  [/(Python|python|curl)(\D{0,14})\d+(\.\d+)+/g, '$1$2VERSION'],
  [/(rule http\.python-http-server: version )\d+(\.\d+)+/g, '$1VERSION'],
  // Pages are of a user who may send raw packets and pings; others are told what they may not.
  [/^warning: icmp: discovering hosts by TCP connections instead of ICMP: .*\n?/gm, ''],
  [/^degraded (http.*(?:\n(?!warn).*)*)\nwarn raw_rights: .*/gm, 'healthy $1'],
];

/** Text in which only what matters is left. */
export function shapeOf(text: string): string {
  const shape = changing.reduce((now, [pattern, word]) => now.replace(pattern, word), text);
  // Words that stand for times end with a blank.
  return shape
    .replaceAll(/ (?=[,);])/g, '')
    .replaceAll(/ +/g, ' ')
    .replace(/^ | $/gm, '')
    .trim();
}

/** A line of three dots on the page stands for any lines. */
function fits(page: string, program: string): boolean {
  const parts = shapeOf(page)
    .split(/^…$/m)
    .map((part) => part.trim());
  if (parts.length === 1) return parts[0] === program;
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (!program.startsWith(first) || !program.endsWith(last)) return false;
  let from = 0;
  return parts.every((part) => {
    const found = program.indexOf(part, from);
    from = found + part.length;
    return found >= 0;
  });
}

/** Runs the `console` blocks of a page in their order. */
export async function runPage(
  page: string,
  run: (step: Step, heading: string) => Promise<Printed>,
): Promise<RunBlock[]> {
  const done: RunBlock[] = [];
  for (const { language, text, heading } of blocksOf(readPage(page))) {
    if (language !== 'console') continue;
    const steps = [];
    for (const step of stepsOf(text)) steps.push({ step, printed: await run(step, heading) });
    done.push({ text, steps });
  }
  return done;
}

/** What the page says otherwise than the program; empty also when the page has just been written. */
export function differences(page: string, blocks: readonly RunBlock[]): Compared[] {
  const wrong = blocks.flatMap(({ steps }) =>
    steps.flatMap(({ step, printed }) => {
      const program = shapeOf(printed.output);
      if (fits(step.output, program)) return [];
      return [{ command: step.command, page: shapeOf(step.output), program }];
    }),
  );
  if (!writes || wrong.length === 0) return wrong;
  let text = readPage(page);
  for (const { text: block, steps } of blocks) {
    const now = steps.map(({ step, printed }) =>
      fits(step.output, shapeOf(printed.output)) ? step : { ...step, output: printed.output },
    );
    text = text.replace(`\`\`\`console\n${block}\`\`\``, () => `\`\`\`console\n${consoleText(now)}\`\`\``);
  }
  writeFileSync(join(root, page), text);
  return [];
}
