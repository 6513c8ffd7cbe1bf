import { Command } from 'commander';
import { addGlobalOptions } from './terminal/globals.ts';
import { watchStdout } from './terminal/output.ts';
import { printableLines } from './terminal/printable.ts';
import type { CliWiring } from './wiring.ts';

type AddCommand = (program: Command, wiring: CliWiring) => void;

/** In the order of the help. */
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
  vulndb: async () => (await import('./data/vulndb.ts')).addVulndbCommand,
  config: async () => (await import('./data/config.ts')).addConfigCommand,
  audit: async () => (await import('./access/audit.ts')).addAuditCommand,
  license: async () => (await import('./access/license.ts')).addLicenseCommand,
  doctor: async () => (await import('./server/doctor.ts')).addDoctorCommand,
  selftest: async () => (await import('./server/selftest.ts')).addSelftestCommand,
  version: async () => (await import('./terminal/version.ts')).addVersionCommand,
  completion: async () => (await import('./terminal/completion.ts')).addCompletionCommand,
};

/** The commands that `words` can mean: one that they begin with needs no other, but to complete takes them all. */
function meantBy([first = '']: readonly string[]): (() => Promise<AddCommand>)[] {
  const named = first !== 'completion' && Object.hasOwn(commands, first) ? commands[first] : undefined;
  return named ? [named] : Object.values(commands);
}

/**
 * The command line: all of it, or the one command that the words after the program's name begin with. `parseAsync` of
 * what it returns runs one command, prints every failure and leaves the exit code of the contract in process.exitCode.
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
      // The flags of a command between (scan, above scan status) are not flags of the one below.
      visibleGlobalOptions: (command) =>
        command.parent === null ? [] : program.options.filter((option) => !option.hidden),
      helpWidth: Math.min(process.stdout.columns || 80, 110),
    })
    .configureOutput({
      // commander repeats what was typed; a script may have put anything there.
      writeErr: (text) => void process.stderr.write(printableLines(text)),
      outputError: (text, write) => write(withoutFalseAdvice(text).replace(/^error: /, 'portolan: ')),
    })
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
  addGlobalOptions(program);
  program.addHelpText('after', examples);
  for (const add of await Promise.all(meantBy(words).map((load) => load()))) add(program, wiring);
  return program;
}

/** What is known and not in this build is no misspelling of something else. */
function withoutFalseAdvice(text: string): string {
  const [, absent] = /^error: unknown command '(plugin)'/.exec(text) ?? [];
  return absent === undefined ? text : `error: the command ${absent} is not in this build\n`;
}

const examples = `
Examples:
  portolan scan 192.0.2.10                     scan one host with the standard profile
  portolan scan 192.0.2.0/24 --ports 22,443    only these ports of a network
  portolan scan @hosts.txt -o result.json      targets from a file, result to a file
  portolan server start                        serve the REST API on 127.0.0.1:8080

Exit codes: 0 ok, 1 general error, 2 usage, 3 configuration, 4 network, 5 permission,
6 timeout, 7 scan failed or partial.
`;
