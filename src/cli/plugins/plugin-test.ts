import { evaluateSample, type RuleTrial } from '../../actions/plugins/evaluate-sample.ts';
import { print } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';

/** @returns 0 if a rule fired, else 1 */
export async function testRules(
  file: string,
  sample: string,
  { format, explain = false }: { format: string; explain?: boolean },
): Promise<number> {
  const trials = await evaluateSample(file, sample);
  const fired = trials.filter((trial) => trial.fired);
  if (format === 'json') {
    print(printableJson(explain ? trials : trials.map(({ conditions: _conditions, ...trial }) => trial)));
  } else {
    print((explain ? trials : fired).map((trial) => textOf(trial, explain)).join(''));
    print(`${fired.length} of ${trials.length} evaluations fired\n`);
  }
  return fired.length > 0 ? 0 : 1;
}

function textOf(
  { host, port, protocol, rule, fired, evidence, conditions }: RuleTrial,
  explain: boolean,
): string {
  const address = host.includes(':') ? `[${host}]` : host;
  const lines = [`${address}:${port}/${protocol}  ${rule}  ${fired ? 'fired' : 'not fired'}`];
  for (const line of (evidence ?? '').split('\n')) if (line !== '') lines.push(`    ${line}`);
  for (const { depth, text, holds, seen } of explain ? conditions : []) {
    const value = seen === null ? '' : `; seen: ${seen}`;
    lines.push(`  ${'  '.repeat(depth)}${holds ? 'yes' : 'no '} ${text}${value}`);
  }
  return lines.map((line) => `${printable(line)}\n`).join('');
}
