import { type Command, InvalidArgumentError, Option } from 'commander';
import { severities } from '../../domain/finding.ts';
import { discoveryProfiles } from '../../domain/scan.ts';
import { caFileOption, tokenOption } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { guarded, programExitCode } from '../terminal/failure.ts';
import { globalFlags, numberOption, sameAs, wholeNumber } from '../terminal/globals.ts';
import { endProcess, outputFormats, paperOption, templateOption } from '../terminal/output.ts';
import { addKeptScans } from '../workspace/kept-scans.ts';
import { rateOption } from './packet-rate.ts';
import { addScanControl } from './scan-commands.ts';
import { priorityOption } from './scan-priority.ts';
import type { ScanFlags } from './submission.ts';

export function addScanCommand(program: CliCommand): void {
  const scan = program
    .command('scan')
    .description('scan hosts and networks, or manage scans on a server')
    .argument('[targets...]', 'addresses, CIDR, ranges (10.0.0-3.1,7), host names, @file')
    .enablePositionalOptions();
  addTargetOptions(scan);
  addDiscoveryOptions(scan);
  addProbeOptions(scan);
  addEvaluationOptions(scan);
  addResultOptions(scan);
  const work = guarded(async (targets: string[], flags: ScanFlags, command: Command) => {
    const { scan } = await import('./scan-work.ts');
    return scan(targets, flags, globalFlags(command), program.wiring);
  });
  scan.action(async (targets: string[], flags: ScanFlags, command: Command) => {
    await work(targets, flags, command);
    await endProcess(programExitCode(program));
  });
  addScanControl(scan);
  addKeptScans(scan);
}

function addTargetOptions(scan: CliCommand): void {
  scan
    .option('-t, --targets <list>', 'additional targets, comma-separated')
    .option('-f, --target-file <file>', 'file with targets, - for stdin')
    .addOption(sameAs('targetFile', new Option('-l, --list <file>', 'same as --target-file')))
    .option('--ipv6', 'names resolve to IPv6 addresses only (without a server)')
    .option('--exclude <list>', 'targets to exclude')
    .option('--exclude-file <file>', 'file with targets to exclude')
    .option(
      '-p, --profile <name>',
      'quick, standard, deep, webapp, infrastructure, an installed profile, or a file',
    )
    .addOption(
      new Option(
        '--dag <file>',
        'graph file (or name of an installed graph) instead of the profile',
      ).conflicts('onlyDiscover'),
    )
    .addOption(
      new Option(
        '--plugin <file>',
        'file of a plugin for this scan: .mjs .cjs .js .mts .ts .node .so .wasm .yaml, or a package; repeatable',
      ).argParser((file: string, before: string[] | undefined) => [...(before ?? []), file]),
    )
    .option('--disable-plugin <list>', 'plugins that do not run in this scan');
}

function addDiscoveryOptions(scan: CliCommand): void {
  scan
    .addOption(new Option('--only-discover', 'find live hosts without probing ports').conflicts('discover'))
    .option('--no-discover', 'treat every target as up')
    .addOption(
      new Option('--discover-profile <name>', 'discovery method, overrides the graph')
        .choices(discoveryProfiles)
        .conflicts('discover'),
    )
    .addOption(
      new Option('--discovery-timeout <duration>', 'timeout of a discovery probe').conflicts('discover'),
    )
    .addOption(
      numberOption('--discovery-retry <n>', 'retries of a discovery probe', 0, 10).conflicts('discover'),
    );
}

function addProbeOptions(scan: CliCommand): void {
  scan
    .addOption(
      new Option('--ports <list>', 'e.g. 22,80,8000-8100, common, top-200, "http*", all').conflicts(
        'topPorts',
      ),
    )
    .addOption(numberOption('--top-ports <n>', 'the n most frequent ports', 1, 1000))
    .option('--exclude-ports <list>', 'ports to exclude, same syntax as --ports')
    .addOption(
      new Option(
        '--scan-type <type>',
        'probe type: raw packets, connections, UDP, or as the profile says; syn,udp and connect,udp are both',
      )
        .choices(scanTypes)
        .argParser(scanTypeOf),
    )
    .addOption(
      rateOption(
        'packets per second, or auto: as responses keep coming; by default scanner.rate of whatever runs the scan, which is auto where unset',
      ),
    )
    .option('--timeout <duration>', 'timeout of a probe, e.g. 3s')
    .addOption(numberOption('--retries <n>', 'retries of a probe without a response', 0, 10))
    .addOption(sameAs('retries', numberOption('--retry <n>', 'same as --retries', 0, 10)))
    .addOption(
      new Option('--concurrency <n>', 'concurrent connections, or auto').argParser((text) =>
        text === 'auto' ? undefined : wholeNumber(text, 1, 65_535),
      ),
    )
    .option('--interface <name>', 'network interface that packets and connections leave through')
    .option('--source-ip <address>', 'their source address, one of the machine that scans')
    .addOption(numberOption('--source-port <n>', 'source port of raw TCP packets and UDP probes', 1, 65_535))
    .option('--max-duration <duration>', 'stop the scan after this time, e.g. 1h30m')
    .addOption(
      new Option('--fail-fast', 'stop the scan at the first error of a stage').conflicts('continueOnError'),
    )
    .option('--continue-on-error', 'continue after errors of a stage, overrides engine.fail_fast');
}

function addEvaluationOptions(scan: CliCommand): void {
  scan
    .option('--no-fingerprint', 'only ports: no banners, products and versions')
    .option('--fingerprint-rules <file>', 'file with additional fingerprint rules (without a server)')
    .addOption(numberOption('--max-protocols <n>', 'maximum number of services reported per port', 1, 20))
    .option('--vuln', 'evaluate vulnerabilities')
    .option('--no-vuln', 'do not evaluate vulnerabilities')
    .addOption(new Option('--min-severity <level>', 'minimum severity of findings').choices(severities))
    .option('--compliance <list>', 'evaluate cis, pci, nist, comma-separated')
    .option('--intrusive', 'allow checks that can disrupt a service');
}

function addResultOptions(scan: CliCommand): void {
  scan
    .option('--format <format>', outputFormats.join(', '))
    .option('-o, --output <file>', 'output file; a bare format name is read as --format')
    .option('--output-file <file>', 'like --output, always a file name')
    .addOption(templateOption())
    .addOption(paperOption())
    .option('--open', 'show only hosts and ports that are open')
    .option('--scan-name <name>', 'label of the scan')
    .addOption(sameAs('scanName', new Option('--name <name>', 'same as --scan-name')))
    .option('--tags <list>', 'labels, comma-separated')
    .option(
      '--notify <list>',
      'notification channels: slack://name, email://address, webhook://name, comma-separated',
    )
    .option('--server <url>', 'run the scan on this server (environment: SERVICE_SERVER)')
    .addOption(tokenOption())
    .addOption(caFileOption())
    .option('--pool <name>', 'worker pool of the server')
    .addOption(priorityOption())
    .option('--schedule <cron>', 'create a recurring job on the server, e.g. "0 2 * * *" or @daily')
    .option('--no-wait', 'print the scan id and exit (needs a server)')
    .option('--progress', 'show progress even if stderr is not a terminal')
    .option('--compare-with <id>', 'also show the changes since this scan, in a report of --output too')
    .option('--fail-on-change', 'exit code 8 if --compare-with shows a change')
    .addOption(
      new Option('--dry-run', 'show the plan and the number of packets, send nothing').conflicts(
        'compareWith',
      ),
    );
}

const scanTypes = ['syn', 'connect', 'udp', 'auto'];

/** @throws InvalidArgumentError */
function scanTypeOf(text: string): string {
  if (scanTypes.includes(text) || /^(?:syn|connect),udp$/.test(text)) return text;
  throw new InvalidArgumentError(`Allowed choices are ${scanTypes.join(', ')}, and syn,udp or connect,udp.`);
}
