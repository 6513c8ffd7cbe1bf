import type { ShownSetting } from '../../config/show.ts';
import { PortolanError } from '../../domain/errors.ts';
import { loadInstalledRegistry } from '../session/command-plugins.ts';
import { readConfig, readConfigQuietly } from '../session/session.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { printable, printableJson, printableLines } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { formatOption } from '../terminal/output-options.ts';
import { problemFrom, problemLines } from '../terminal/source-lines.ts';
import type { CliWiring } from '../wiring.ts';

export function addConfigCommand(program: CliCommand): void {
  const config = program.command('config').description('validate, show and create a configuration');
  config
    .command('init')
    .description('write an example with every key to a file or stdout')
    .argument('[file]', 'new file; never overwrites')
    .runs(() => init);
  config
    .command('validate')
    .description('validate the effective configuration: exit 0 if valid, else 3')
    .argument('[file]', 'configuration file, as --config')
    .option('--strict', 'unknown keys are errors')
    .addOption(formatOption())
    .runs(() => validate);
  config
    .command('show')
    .description('show the effective settings; secrets are hidden')
    .option('--origin', 'show the origin of each value')
    .addOption(formatOption())
    .runs(() => show);
}

interface ValidateFlags {
  strict?: boolean;
  format: string;
}

async function init(file: string | undefined): Promise<void> {
  const { renderExample } = await import('../../config/example.ts');
  if (file === undefined) print(renderExample());
  else {
    await writeNew(file, renderExample());
    note(`${printable(file)} written; check it with: portolan config validate --config ${printable(file)}`);
  }
}

/** Readable by the owner only: it may contain secrets. */
async function writeNew(file: string, text: string): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = {
      EEXIST: 'file exists',
      ENOENT: 'no such directory',
      EACCES: 'permission denied',
    };
    throw new PortolanError('conflict', `cannot write ${file}: ${reasons[code ?? ''] ?? code}`);
  }
}

async function validate(
  file: string | undefined,
  { strict = false, format }: ValidateFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const flags = file === undefined ? global : { ...global, config: file };
  const loaded = await readConfigQuietly(flags, {}, strict);
  const { warnings } = loaded;
  if (format !== 'json') noteWarnings(warnings);
  if (Object.keys(loaded.config.modules).length > 0) {
    const { checkModuleDefaults } = await import('../../scan-run/plan/module-defaults.ts');
    checkModuleDefaults(loaded, await loadInstalledRegistry(wiring, loaded.config));
  }
  const { readAlertRules } = await import('../../alerts/read-rules.ts');
  await readAlertRules(loaded.alertFiles, loaded.config.alerts.file);
  print(format === 'json' ? printableJson({ valid: true, warnings }) : 'the configuration is valid\n');
}

/** With the lines of the files where they have positions. */
function noteWarnings(warnings: readonly string[]): void {
  const read = warnings.map((text) => ({ text, problem: problemFrom(text, 'warning') }));
  for (const { text, problem } of read) if (problem === null) note(`warning: ${printableLines(text)}`);
  const found = read.flatMap(({ problem }) => problem ?? []);
  if (found.length > 0) process.stderr.write(problemLines(found));
}

async function show(flags: { origin?: boolean; format: string }, global: GlobalFlags): Promise<void> {
  const loaded = await readConfig(global);
  const { showSettings } = await import('../../config/show.ts');
  const settings = showSettings(loaded);
  if (flags.format === 'json')
    print(printableJson({ settings: settings.map((one) => jsonOf(one, flags.origin)) }));
  else {
    const { printTable } = await import('../terminal/draw/print-table.ts');
    const origin = { head: 'ORIGIN', cell: (setting: ShownSetting) => setting.origin };
    printTable(
      [
        { head: 'KEY', cell: ({ key }) => key },
        { head: 'VALUE', cell: ({ value }) => textOf(value), over: 'wrap' },
        ...(flags.origin ? [origin] : []),
      ],
      settings,
      global,
      [['VALUE', 24]],
    );
  }
}

function jsonOf({ key, value, origin }: ShownSetting, withOrigin = false): object {
  return withOrigin ? { key, value, origin } : { key, value };
}

function textOf(value: ShownSetting['value']): string {
  if (value === null || value === '') return '-';
  if (typeof value !== 'object') return String(value);
  const plain = Array.isArray(value) && value.every((item) => typeof item !== 'object');
  return plain ? value.join(', ') || '-' : JSON.stringify(value);
}
