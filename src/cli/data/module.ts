import { PortolanError } from '../../domain/errors.ts';
import type { ModuleDefinition } from '../../engine/module.ts';
import { loadInstalledRegistry } from '../session/command-plugins.ts';
import { readConfigQuietly } from '../session/session.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { CliWiring } from '../wiring.ts';

export function addModuleCommand(program: CliCommand): void {
  const module = program.command('module').description('show the scan modules');
  module
    .command('list')
    .description('list every module')
    .addOption(formatOption())
    .runs(() => list);
  module
    .command('show')
    .description('show inputs, outputs and options of a module')
    .argument('<name>', 'name of a module')
    .addOption(formatOption())
    .runs(() => show);
}

async function list({ format }: { format: string }, global: GlobalFlags, wiring: CliWiring): Promise<void> {
  const modules = await installedModules(global, wiring);
  if (format === 'json') print(printableJson({ modules: modules.map(moduleOut) }));
  else {
    const { printTable } = await import('../terminal/draw/print-table.ts');
    printTable(
      [
        { head: 'NAME', cell: ({ name }) => name },
        { head: 'TYPE', cell: ({ type }) => type },
        { head: 'VERSION', cell: ({ version }) => version },
        { head: 'DESCRIPTION', cell: ({ description }) => description, over: 'wrap' },
      ],
      modules,
      global,
      [
        ['DESCRIPTION', 2 * leastProseColumns],
        ['VERSION', 0],
        ['TYPE', 0],
        ['DESCRIPTION', leastProseColumns],
      ],
    );
  }
}

async function show(
  name: string,
  { format }: { format: string },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const modules = await installedModules(global, wiring);
  const module = modules.find((candidate) => candidate.name === name);
  if (!module) throw new PortolanError('not_found', `no module "${name}"; see: portolan module list`);
  if (format === 'json') print(printableJson(moduleOut(module)));
  else await printModule(module, global);
}

async function installedModules(global: GlobalFlags, wiring: CliWiring) {
  const { config } = await readConfigQuietly(global);
  return (await loadInstalledRegistry(wiring, config)).list();
}

function moduleOut(module: ModuleDefinition & { source: string }): Record<string, unknown> {
  const { name, type, description, version, source, requires, provides, options } = module;
  return { name, type, description, version, source, requires, provides, config_schema: options };
}

async function printModule(
  module: ModuleDefinition & { source: string },
  global: GlobalFlags,
): Promise<void> {
  const facts = [
    `${module.name} ${module.version} (${module.type}, ${module.source})`,
    module.description,
    '',
    `reads    ${module.requires.join(', ') || '-'}`,
    `writes   ${module.provides.join(', ') || '-'}`,
    '',
  ].map(printable);
  print(`${facts.join('\n')}\n`);
  const options = Object.entries(module.options);
  if (options.length === 0) return;
  const { printTable } = await import('../terminal/draw/print-table.ts');
  printTable(
    [
      { head: 'OPTION', cell: ([name]) => name },
      { head: 'TYPE', cell: ([, { Type }]) => Type },
      { head: 'DEFAULT', cell: ([, { Default }]) => (Default === undefined ? null : String(Default)) },
      { head: 'BOUNDS', cell: ([, option]) => boundsText(option) },
      { head: 'DESCRIPTION', cell: ([, { Description }]) => Description, over: 'wrap' },
    ],
    options,
    global,
    [['DESCRIPTION', leastProseColumns]],
  );
}

/** Narrowest column of descriptions. */
const leastProseColumns = 24;

/** Longer lists would not fit the screen; `--format json` has all items. */
const mostNamedItems = 6;

/** Bounds of a duration are milliseconds. */
function boundsText(option: ModuleDefinition['options'][string]): string | null {
  if (option.Enum) return option.Enum.join('|');
  if (option.Items) return option.Items.length > mostNamedItems ? 'list' : option.Items.join(',');
  if (option.Min === undefined && option.Max === undefined) return null;
  const unit = option.Type === 'duration' ? ' ms' : '';
  return `${option.Min ?? ''}..${option.Max ?? ''}${unit}`;
}
