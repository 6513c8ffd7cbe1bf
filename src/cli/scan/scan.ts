import { type Command, Option } from 'commander';
import { severities } from '../../domain/finding.ts';
import { discoveryProfiles } from '../../domain/scan.ts';
import { tokenOption } from '../session/server-flags.ts';
import { guarded } from '../terminal/failure.ts';
import { globalFlags, wholeNumber } from '../terminal/globals.ts';
import { endProcess, outputFormats } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import { addScanControl } from './scan-commands.ts';
import type { ScanFlags } from './submission.ts';

/** Highest rate that a server can be asked for, packets per second. */
export const maxRate = 10_000_000;

export function addScanCommand(program: Command, wiring: CliWiring): void {
  const scan = program
    .command('scan')
    .description('scan hosts and networks; or look after scans on a server')
    .argument('[targets...]', 'addresses, CIDR, ranges, host names, @file with a list');
  addTargetOptions(scan);
  addDiscoveryOptions(scan);
  addProbeOptions(scan);
  addEvaluationOptions(scan);
  addResultOptions(scan);
  const work = guarded(async (targets: string[], flags: ScanFlags, command: Command) => {
    const { scan } = await import('./scan-work.ts');
    return scan(targets, flags, globalFlags(command), wiring);
  });
  scan
    .addHelpText('after', examples)
    .action(async (targets: string[], flags: ScanFlags, command: Command) => {
      await work(targets, flags, command);
      await endProcess();
    });
  addScanControl(scan, wiring);
}

function addTargetOptions(scan: Command): void {
  scan
    .option('-t, --targets <list>', 'further targets, separated by commas')
    .option('-f, --target-file <file>', 'file with targets, - for stdin')
    .option('--exclude <list>', 'targets that are never touched')
    .option('--exclude-file <file>', 'file with targets that are never touched')
    .option(
      '-p, --profile <name>',
      'quick, standard, deep, webapp, infrastructure, one of your own, or a file',
    )
    .addOption(
      new Option(
        '--dag <file>',
        'graph file (or name of an installed graph) instead of the profile',
      ).conflicts('onlyDiscover'),
    )
    .addOption(
      new Option('--plugin <file>', 'module of a plugin file; not in this build').argParser(
        (file: string, before: string[] | undefined) => [...(before ?? []), file],
      ),
    );
}

function addDiscoveryOptions(scan: Command): void {
  scan
    .addOption(new Option('--only-discover', 'find live hosts, probe no ports').conflicts('discover'))
    .option('--no-discover', 'treat every target as up')
    .addOption(
      new Option('--discover-profile <name>', 'how live hosts are found, whatever the graph says')
        .choices(discoveryProfiles)
        .conflicts('discover'),
    )
    .addOption(
      new Option('--discovery-timeout <duration>', 'how long one discovery probe waits').conflicts(
        'discover',
      ),
    )
    .addOption(
      number('--discovery-retry <n>', 'further tries of a discovery probe', 0, 10).conflicts('discover'),
    );
}

function addProbeOptions(scan: Command): void {
  scan
    .addOption(
      new Option('--ports <list>', 'e.g. 22,80,8000-8100, common, top-200, all').conflicts('topPorts'),
    )
    .addOption(number('--top-ports <n>', 'the n most frequent ports', 1, 1000))
    .option('--exclude-ports <list>', 'ports that are never tried, written like --ports')
    .addOption(
      new Option(
        '--scan-type <type>',
        'how ports are probed: raw packets, connections, UDP, or as the profile says',
      ).choices(['syn', 'connect', 'udp', 'auto']),
    )
    .addOption(number('-r, --rate <n>', 'packets per second', 1, maxRate))
    .option('--timeout <duration>', 'how long one probe waits, e.g. 3s')
    .addOption(number('--retries <n>', 'further tries of a silent probe', 0, 10))
    .addOption(number('--retry <n>', 'same as --retries', 0, 10).hideHelp())
    .addOption(number('--max-retries <n>', 'same as --retries', 0, 10).hideHelp())
    .addOption(number('--concurrency <n>', 'open connections at once', 1, 65_535))
    .option('--max-duration <duration>', 'end the scan after this time, e.g. 1h30m')
    .addOption(
      new Option('--fail-fast', 'the first error of a stage ends the scan').conflicts('continueOnError'),
    )
    .option(
      '--continue-on-error',
      'an error of a stage does not end the scan, whatever engine.fail_fast says',
    );
}

function addEvaluationOptions(scan: Command): void {
  scan
    .option('--no-fingerprint', 'banners only: no products, versions and profiles')
    .option('--fingerprint-rules <file>', 'file with further signatures (without a server)')
    .addOption(number('--max-protocols <n>', 'different services that are kept for one port', 1, 20))
    .option('--vuln', 'evaluate vulnerabilities')
    .option('--no-vuln', 'evaluate no vulnerabilities')
    .addOption(new Option('--min-severity <level>', 'least severity of findings').choices(severities))
    .option('--compliance <list>', 'judge by cis, pci, nist (comma list)')
    .option('--intrusive', 'allow checks that can disturb a service');
}

function addResultOptions(scan: Command): void {
  scan
    .option('--format <format>', outputFormats.join(', '))
    .option('-o, --output <file>', 'file for the result; a bare format word is taken as --format')
    .option('--output-file <file>', 'same as --output, always a file')
    .option('--scan-name <name>', 'label of the scan')
    .option('--tags <list>', 'labels, separated by commas')
    .option(
      '--notify <list>',
      'who is told of the end: slack://name, email://address, webhook://name, separated by commas',
    )
    .option('--server <url>', 'scan on this server (environment: SERVICE_SERVER)')
    .addOption(tokenOption())
    .option('--pool <name>', 'with a server: its worker pool')
    .option('--schedule <cron>', 'with a server: scan again and again, e.g. "0 2 * * *" or @daily')
    .option('--no-wait', 'with a server: print the scan id and end')
    .option('--progress', 'show progress even when stderr is no terminal')
    .option('--compare-with <id>', 'then show what changed since this scan')
    .addOption(
      new Option('--dry-run', 'show the plan and the number of packets; send nothing').conflicts(
        'compareWith',
      ),
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
  portolan scan watch 20261006-143022-a1b2c3

A target named like a command (status, cancel, pause, resume, watch, diff) goes to --targets.
Without --format the extension of the output file decides, else text. The result goes to
stdout, everything else to stderr. The first Ctrl-C cancels and keeps the results.
`;
