import { Command } from 'commander';
import { addAuditCommand } from './audit.ts';
import { addCompletionCommand } from './completion.ts';
import { addConfigCommand } from './config.ts';
import { addDagCommand } from './dag.ts';
import { addDoctorCommand } from './doctor.ts';
import { addExplainCommand } from './explain.ts';
import { addFingerprintCommand } from './fingerprint.ts';
import { addGlobalOptions } from './globals.ts';
import { addJobCommand } from './job.ts';
import { addLicenseCommand } from './license.ts';
import { addModuleCommand } from './module.ts';
import { watchStdout } from './output.ts';
import { printableLines } from './printable.ts';
import { addProfileCommand } from './profile.ts';
import { addScanCommand } from './scan.ts';
import { addSelftestCommand } from './selftest.ts';
import { addServerCommand } from './server.ts';
import { addVersionCommand } from './version.ts';
import { addVulndbCommand } from './vulndb.ts';
import type { CliWiring } from './wiring.ts';
import { addWorkspaceCommand } from './workspace.ts';

/**
 * The whole command line. `parseAsync` of what it returns runs one command, prints every failure and leaves the exit
 * code of the contract in process.exitCode.
 */
export function buildProgram(wiring: CliWiring): Command {
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
  addScanCommand(program, wiring);
  addServerCommand(program, wiring);
  addJobCommand(program);
  addExplainCommand(program);
  addWorkspaceCommand(program);
  addDagCommand(program, wiring);
  addProfileCommand(program, wiring);
  addModuleCommand(program, wiring);
  addFingerprintCommand(program);
  addVulndbCommand(program);
  addConfigCommand(program, wiring);
  addAuditCommand(program);
  addLicenseCommand(program);
  addDoctorCommand(program);
  addSelftestCommand(program);
  addVersionCommand(program, wiring);
  addCompletionCommand(program);
  return program;
}

/** What is known and not in this build is no misspelling of something else. */
function withoutFalseAdvice(text: string): string {
  const [, absent] = /^error: unknown command '(worker|plugin)'/.exec(text) ?? [];
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
