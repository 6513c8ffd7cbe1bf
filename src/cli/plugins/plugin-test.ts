import { evaluateSample, type RuleTrial } from '../../actions/plugins/evaluate-sample.ts';
import { openPlugin } from '../../actions/plugins/open-plugin.ts';
import { type PluginTrialResult, tryPlugin } from '../../actions/plugins/try-plugin.ts';
import { readConfig } from '../session/session.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import { pluginContext } from './plugin-session.ts';

interface TestFlags {
  format: string;
  explain?: boolean;
}

/** @returns 0 if a rule fired or the plugin loaded and its run completed, else 1 */
export async function testPlugin(
  file: string,
  sample: string | undefined,
  flags: TestFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  const { kind } = (await openPlugin(file)).file;
  if (kind === 'rules' && sample !== undefined) return testRules(file, sample, flags);
  const { config } = await readConfig(global);
  const tried = await tryPlugin(file, sample ?? null, await pluginContext(config, wiring));
  print(flags.format === 'json' ? printableJson(tried) : textOfTrial(tried));
  return tried.run?.error ? 1 : 0;
}

function textOfTrial({ file, metadata, run }: PluginTrialResult): string {
  const { options, ...facts } = metadata;
  const shown = { ...facts, package: `${file.name} ${file.version} (${file.kind})`, sha256: file.sha256 };
  const lines = Object.entries({ ...shown, permissions: file.permissions }).map(
    ([key, value]) => `${key.padEnd(12)}  ${[value].flat().join(', ') || '-'}`,
  );
  for (const [name, { Type, Description }] of Object.entries(options))
    lines.push(`option        ${name} (${Type}): ${Description}`);
  if (run) lines.push('', ...linesOfRun(run));
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function linesOfRun({
  published,
  more,
  warnings,
  log,
  error,
}: NonNullable<PluginTrialResult['run']>): string[] {
  return [
    ...published.map(({ key, item }) => `${key}  ${JSON.stringify(item)}`),
    ...(more > 0 ? [`and ${more} more items`] : []),
    ...log.map((line) => `log: ${line}`),
    ...warnings.map((warning) => `warning: ${warning}`),
    error === null ? `completed, ${published.length + more} items published` : `failed: ${error}`,
  ];
}

async function testRules(
  file: string,
  sample: string,
  { format, explain = false }: TestFlags,
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
