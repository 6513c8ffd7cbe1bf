import type { Command } from 'commander';
import { CliCommand } from './terminal/cli-command.ts';
import { printableLines } from './terminal/draw/printable.ts';
import { programExitCode, reportFailure } from './terminal/failure.ts';
import { addGlobalOptions } from './terminal/globals.ts';
import { watchStdout } from './terminal/output.ts';
import type { CliWiring } from './wiring.ts';

type AddCommand = (program: CliCommand) => void;

/** In the order of `--help`. */
const commands: Record<string, () => Promise<AddCommand>> = {
  scan: async () => (await import('./scan/scan.ts')).addScanCommand,
  server: async () => (await import('./server/server.ts')).addServerCommand,
  worker: async () => (await import('./server/worker.ts')).addWorkerCommand,
  job: async () => (await import('./jobs/job.ts')).addJobCommand,
  schedule: async () => (await import('./jobs/schedule.ts')).addScheduleCommand,
  explain: async () => (await import('./scan/explain.ts')).addExplainCommand,
  workspace: async () => (await import('./workspace/workspace.ts')).addWorkspaceCommand,
  backup: async () => (await import('./workspace/backup.ts')).addBackupCommand,
  restore: async () => (await import('./workspace/backup.ts')).addRestoreCommand,
  store: async () => (await import('./workspace/store.ts')).addStoreCommand,
  dag: async () => (await import('./data/dag.ts')).addDagCommand,
  profile: async () => (await import('./data/profile.ts')).addProfileCommand,
  module: async () => (await import('./data/module.ts')).addModuleCommand,
  fingerprint: async () => (await import('./data/fingerprint.ts')).addFingerprintCommand,
  plugin: async () => (await import('./plugins/plugin.ts')).addPluginCommand,
  vulndb: async () => (await import('./data/vulndb.ts')).addVulndbCommand,
  config: async () => (await import('./data/config.ts')).addConfigCommand,
  alert: async () => (await import('./signals/alert.ts')).addAlertCommand,
  audit: async () => (await import('./access/audit.ts')).addAuditCommand,
  notification: async () => (await import('./signals/notification.ts')).addNotificationCommand,
  license: async () => (await import('./access/license.ts')).addLicenseCommand,
  doctor: async () => (await import('./server/doctor.ts')).addDoctorCommand,
  selftest: async () => (await import('./server/selftest.ts')).addSelftestCommand,
  version: async () => (await import('./terminal/version.ts')).addVersionCommand,
  completion: async () => (await import('./terminal/completion/completion.ts')).addCompletionCommand,
};

/** Names of commands as `commands` has them, by alias. */
const aliases: Record<string, string> = { storage: 'workspace' };

/** Loads only the named command; completion needs all. */
function meantBy(name: string | undefined): (() => Promise<AddCommand>)[] {
  const known = name !== undefined && Object.hasOwn(aliases, name) ? aliases[name] : name;
  if (known === undefined || known === 'completion' || !Object.hasOwn(commands, known))
    return Object.values(commands);
  return [commands[known] as () => Promise<AddCommand>];
}

/** Runs the command that `words` say and prints every failure. @returns the exit code of the contract */
export async function runProgram(wiring: CliWiring, words: readonly string[]): Promise<number> {
  const bare = newProgram(wiring);
  const place = commandPlace(bare, words);
  const name = words[place];
  try {
    if (name === undefined || isHelp(words, place)) {
      const { printHelp } = await import('./terminal/help.ts');
      const exitCode = await printHelp(bare, words.slice(place), name === undefined);
      if (exitCode !== null) return exitCode;
    } else if (name !== '--version' && !isCommand(name)) {
      const { unknownCommand } = await import('./terminal/unknown-command.ts');
      throw unknownCommand(words.slice(place), [...Object.keys(commands), ...Object.keys(aliases)]);
    }
    const program = await buildProgram(wiring, name === 'help' ? words[place + 1] : name);
    if (name === 'scan' || name === 'help') await addScanHelp(program, words);
    await program.parseAsync(await wordsFor(program, words, place), { from: 'user' });
    return programExitCode(program);
  } catch (error) {
    return reportFailure(error);
  }
}

function isHelp(words: readonly string[], place: number): boolean {
  return words[place] === '-h' || words[place] === '--help' || words[place] === 'help';
}

function isCommand(name: string): boolean {
  return name === 'help' || Object.hasOwn(commands, name) || Object.hasOwn(aliases, name);
}

/** Position of the first word that is neither a flag of the program nor its value. */
function commandPlace({ options }: Command, words: readonly string[]): number {
  let place = 0;
  for (; place < words.length; place++) {
    const word = words[place] as string;
    const [flag] = word.split('=');
    const known = options.find(({ short, long }) => flag === short || flag === long);
    const isRepeated = /^-[vq]+$/.test(word);
    if (!(known || isRepeated) || known?.long === '--version') break;
    if (known?.required && !word.includes('=')) place++;
  }
  return place;
}

/** The help of `scan` is written by hand, and loaded when somebody asks for it. */
async function addScanHelp(program: Command, words: readonly string[]): Promise<void> {
  const scan = program.commands.find((command) => command.name() === 'scan');
  if (scan === undefined || !words.some((word) => ['-h', '--help', 'help'].includes(word))) return;
  const { scanHelp } = await import('./scan/scan-help.ts');
  scan.helpInformation = () => scanHelp(scan, words.includes('-h'));
}

/** The words for commander: a scan understands the flags of nmap too. */
async function wordsFor(
  program: Command,
  words: readonly string[],
  place: number,
): Promise<readonly string[]> {
  const isJob = words[place] === 'job' && words[place + 1] === 'submit';
  if (words[place] !== 'scan' && !isJob) return words;
  const { readJobWords, readScanWords } = await import('./scan/scan-words.ts');
  if (isJob) {
    const submit = commandOf(commandOf(program, 'job'), 'submit');
    return [...words.slice(0, place + 2), ...(await readJobWords(submit, program, words.slice(place + 2)))];
  }
  const scan = commandOf(program, 'scan');
  const { words: read, ...habits } = await readScanWords(scan, program, words.slice(place + 1));
  if (habits.outputs.length + habits.notes.length + habits.always.length > 0)
    scan.setOptionValueWithSource('habits', habits, 'cli');
  return [...words.slice(0, place + 1), ...read];
}

function commandOf({ commands }: Command, name: string): Command {
  return commands.find((command) => command.name() === name) as Command;
}

/** The command line with all commands, or only the named one. */
export async function buildProgram(wiring: CliWiring, name?: string): Promise<CliCommand> {
  watchStdout();
  const program = newProgram(wiring);
  for (const add of await Promise.all(meantBy(name).map((load) => load()))) add(program);
  return program;
}

function newProgram(wiring: CliWiring): CliCommand {
  const program = new CliCommand('portolan', wiring)
    .description('A network security scanner that runs as a server.')
    .version(`portolan ${wiring.version}`, '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .configureHelp({ helpWidth: Math.min(process.stdout.columns || 80, 80) })
    .configureOutput({
      // commander repeats the input, which may contain control characters.
      writeErr: (text) => void process.stderr.write(printableLines(text)),
      outputError: (text, write) => write(text.replace(/^error: /, 'portolan: ')),
    })
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
  addGlobalOptions(program);
  return program;
}
