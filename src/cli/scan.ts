import { type Command, Option } from 'commander';
import { guarded } from './failure.ts';
import { globalFlags, wholeNumber } from './globals.ts';
import type { ScanFlags } from './submission.ts';
import type { CliWiring } from './wiring.ts';

/** Highest rate that a server can be asked for, packets per second. */
const maxRate = 10_000_000;

export function addScanCommand(program: Command, wiring: CliWiring): void {
  program
    .command('scan')
    .description('scan hosts and networks')
    .argument('[targets...]', 'addresses, CIDR, ranges, host names, @file with a list')
    .option('-t, --targets <list>', 'further targets, separated by commas')
    .option('-f, --target-file <file>', 'file with targets, - for stdin')
    .option('--exclude <list>', 'targets that are never touched')
    .option('--exclude-file <file>', 'file with targets that are never touched')
    .addOption(
      new Option('--ports <list>', 'e.g. 22,80,8000-8100, common, top-200, all').conflicts('topPorts'),
    )
    .addOption(number('--top-ports <n>', 'the n most frequent ports', 1, 1000))
    .option('-p, --profile <name>', 'quick, standard, deep, webapp, infrastructure')
    .addOption(
      new Option('--dag <file>', 'graph file (or name of a builtin graph) instead of the profile').conflicts(
        'onlyDiscover',
      ),
    )
    .addOption(number('-r, --rate <n>', 'packets per second', 1, maxRate))
    .option('--timeout <duration>', 'how long one probe waits, e.g. 3s')
    .addOption(number('--retries <n>', 'further tries of a silent probe', 0, 10))
    .addOption(number('--retry <n>', 'same as --retries', 0, 10).hideHelp())
    .addOption(number('--max-retries <n>', 'same as --retries', 0, 10).hideHelp())
    .addOption(number('--concurrency <n>', 'open connections at once', 1, 65_535))
    .option('--max-duration <duration>', 'end the scan after this time, e.g. 1h30m')
    .addOption(new Option('--scan-type <type>', 'how ports are probed').choices(['connect', 'auto']))
    .addOption(new Option('--only-discover', 'find live hosts, probe no ports').conflicts('discover'))
    .option('--no-discover', 'treat every target as up')
    .option('--vuln', 'evaluate vulnerabilities')
    .option('--no-vuln', 'evaluate no vulnerabilities')
    .option('--intrusive', 'allow checks that can disturb a service')
    .option('--fail-fast', 'the first error of a stage ends the scan')
    .option('--format <format>', 'text, json, jsonl or csv')
    .option('-o, --output <file>', 'file for the result; a bare format word is taken as --format')
    .option('--output-file <file>', 'same as --output, always a file')
    .option('--scan-name <name>', 'label of the scan')
    .option('--tags <list>', 'labels, separated by commas')
    .option('--server <url>', 'scan on this server (environment: SERVICE_SERVER)')
    .option('--api-token <token>', 'token for the server (environment: SERVICE_API_TOKEN)')
    .option('--no-wait', 'with a server: print the scan id and end')
    .option('--progress', 'show progress even when stderr is no terminal')
    .option('--dry-run', 'show the plan and the number of packets; send nothing')
    .addHelpText('after', examples)
    .action(
      guarded(async (targets: string[], flags: ScanFlags, command: Command) => {
        const { scan } = await import('./scan-work.ts');
        return scan(targets, flags, globalFlags(command), wiring);
      }),
    );
}

function number(flags: string, description: string, least: number, most: number): Option {
  return new Option(flags, description).argParser((text) => wholeNumber(text, least, most));
}

const examples = `
Examples:
  portolan scan 192.0.2.10 --ports 22,80,443
  portolan scan 192.0.2.0/24 --exclude 192.0.2.1 --rate 500 -o report.csv
  portolan scan -f hosts.txt --profile quick --format jsonl
  portolan scan 192.0.2.10 --server https://scanner.example:8443

Without --format the extension of the output file decides, else text. The result goes to
stdout, everything else to stderr. The first Ctrl-C cancels and keeps the results.
`;
