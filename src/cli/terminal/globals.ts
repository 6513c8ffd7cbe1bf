import { type Command, InvalidArgumentError, Option } from 'commander';

/** Global flags as parsed by commander. */
export interface GlobalFlags {
  config?: string;
  workspaceDir?: string;
  /** False after --no-workspace. */
  workspace: boolean;
  logLevel?: string;
  logFormat?: string;
  verbose?: number;
  verbosity?: number;
  quiet?: boolean;
  /** False after --no-color. */
  color: boolean;
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'];

export function addGlobalOptions(program: Command): void {
  program
    .option('--config <file>', 'configuration file (environment: SERVICE_CONFIG)')
    .option('--workspace-dir <dir>', 'root of the workspace')
    .option('--no-workspace', 'store nothing: scans use a temporary directory')
    .addOption(new Option('--log-level <level>', 'minimum log level').choices(logLevels))
    .addOption(new Option('--log-format <format>', 'format of log lines').choices(['text', 'json']))
    .option(
      '-v, --verbose',
      'say more: of a scan what it does, -vv with rates and stages, -vvv with its log',
      (_value, before: number | undefined) => (before ?? 0) + 1,
    )
    .addOption(numberOption('--verbosity <n>', '0 to 3: same as repeating -v', 0, 3))
    .option('-q, --quiet', 'no progress on stderr, only errors')
    .option('--no-color', 'no colors (environment: NO_COLOR)');
}

/** The global flags, wherever they are on the command line. */
export function globalFlags(command: Command): GlobalFlags {
  return command.optsWithGlobals() as GlobalFlags;
}

/** Configuration values set by flags, by key. */
export function configFlags(flags: GlobalFlags): Record<string, unknown> {
  const chosen: Record<string, unknown> = {};
  if (flags.workspaceDir !== undefined) chosen['workspace.dir'] = flags.workspaceDir;
  if (!flags.workspace) chosen['workspace.enabled'] = false;
  const level = flags.logLevel ?? levelOf(flags.verbosity ?? flags.verbose ?? 0);
  if (level) chosen['logging.level'] = level;
  if (flags.logFormat) chosen['logging.format'] = flags.logFormat;
  return chosen;
}

function levelOf(verbosity: number): string | null {
  if (verbosity === 0) return null;
  return verbosity === 1 ? 'debug' : 'trace';
}

/** A flag whose value is a whole number with inclusive bounds. */
export function numberOption(flags: string, description: string, least: number, most: number): Option {
  return new Option(flags, description).argParser((text) => wholeNumber(text, least, most));
}

/** A flag that sets what another one sets, without a line in the help. */
export function sameAs(attribute: string, option: Option): Option {
  option.attributeName = () => attribute;
  return option.hideHelp();
}

/** The items of a comma-separated list that are not empty. */
export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Parses a plain decimal number for commander. @throws InvalidArgumentError */
export function wholeNumber(text: string, least: number, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
}
