import { Command } from 'commander';
import { addGlobalOptions } from './terminal/globals.ts';
import { watchStdout } from './terminal/output.ts';
import { printableLines } from './terminal/printable.ts';
import type { CliWiring } from './wiring.ts';

type AddCommand = (program: Command, wiring: CliWiring) => void;

/** In the order of `--help`. */
const commands: Record<string, () => Promise<AddCommand>> = {
  scan: async () => (await import('./scan/scan.ts')).addScanCommand,
  server: async () => (await import('./server/server.ts')).addServerCommand,
  worker: async () => (await import('./server/worker.ts')).addWorkerCommand,
  job: async () => (await import('./jobs/job.ts')).addJobCommand,
  schedule: async () => (await import('./jobs/schedule.ts')).addScheduleCommand,
  explain: async () => (await import('./scan/explain.ts')).addExplainCommand,
  workspace: async () => (await import('./workspace/workspace.ts')).addWorkspaceCommand,
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
  completion: async () => (await import('./terminal/completion.ts')).addCompletionCommand,
};

/** Loads only the command that `words` start with; completion needs all. */
function meantBy([first = '']: readonly string[]): (() => Promise<AddCommand>)[] {
  const named = first !== 'completion' && Object.hasOwn(commands, first) ? commands[first] : undefined;
  return named ? [named] : Object.values(commands);
}

/**
 * The command line: all of it, or only the command that `words` start with. `parseAsync` of the result runs one command,
 * prints every failure and sets process.exitCode to the exit code of the contract.
 */
export async function buildProgram(wiring: CliWiring, words: readonly string[] = []): Promise<Command> {
  watchStdout();
  const program: Command = new Command('portolan')
    .description('A network security scanner that runs as a server.')
    .version(`portolan ${wiring.version}`, '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .showSuggestionAfterError()
    .configureHelp({
      showGlobalOptions: true,
      // Flags of a parent command (scan) are not flags of its subcommands (scan status).
      visibleGlobalOptions: (command) =>
        command.parent === null ? [] : program.options.filter((option) => !option.hidden),
      helpWidth: Math.min(process.stdout.columns || 80, 110),
    })
    .configureOutput({
      // commander repeats the input, which may contain control characters.
      writeErr: (text) => void process.stderr.write(printableLines(text)),
      outputError: (text, write) => write(text.replace(/^error: /, 'portolan: ')),
    })
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
  addGlobalOptions(program);
  program.addHelpText('after', examples);
  for (const add of await Promise.all(meantBy(words).map((load) => load()))) add(program, wiring);
  return program;
}

const examples = `
Examples:
  portolan scan 192.0.2.10                     scan one host with the standard profile
  portolan scan 192.0.2.0/24 --ports 22,443    only these ports of a network
  portolan scan @hosts.txt -o result.json      targets from a file, result to a file
  portolan server start                        serve the REST API on 127.0.0.1:8080

Exit codes: 0 ok, 1 general error, 2 usage, 3 configuration, 4 network, 5 permission,
6 timeout, 7 scan failed or partial, 8 something changed (--fail-on-change).
`;
