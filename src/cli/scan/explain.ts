import type { PortEndpoint } from '../../actions/results/explain-port.ts';
import { serverOptions } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { CliWiring } from '../wiring.ts';
import type { ExplainFlags } from './explain/explain-work.ts';

/** `explain`: how a scan got from a response to a finding. */
export function addExplainCommand(program: CliCommand): void {
  program
    .command('explain')
    .description('show the evidence behind the results of a host: responses, matching rules, conclusions')
    .usage('[options] [scan_id] <host[:port]>')
    .argument('<scan_id>', 'scan id, its beginning or latest (default: the newest that tried it)')
    .argument('[host[:port]]', 'address or name, optionally with a port: 192.0.2.1:22, [2001:db8::1]:53/udp')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .addHelpText(
      'after',
      '\nReads the record of the scan and sends nothing to the host. Uses the local rules\nand vulnerability data. -v adds patterns, CPE names, vectors and all findings.',
    )
    .runs(() => explainWords);
}

async function explainWords(
  first: string,
  second: string | undefined,
  ...rest: [ExplainFlags, GlobalFlags, CliWiring]
): Promise<void> {
  const { explain } = await import('./explain/explain-work.ts');
  const [scan, place] = second === undefined ? [null, first] : [first, second];
  return explain(scan, readEndpoint(place), ...rest);
}

/** @throws PortolanError `usage` */
export function readEndpoint(text: string): PortEndpoint {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5})(?:\/(tcp|udp))?)?$/i.exec(text);
  const plain = /^([^:[\]]+)(?::(\d{1,5})(?:\/(tcp|udp))?)?$/i.exec(text);
  const bare = /^([0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*(?:%\S+)?)$/i.exec(text);
  const [, host = '', port, protocol] = bracketed ?? plain ?? bare ?? [];
  const number = port === undefined ? null : Number(port);
  if (host === '' || (number !== null && (number < 1 || number > 65_535)))
    throw usage(`"${text}" is not host, host:port or [address]:port`);
  const known = protocol?.toLowerCase();
  return { host, port: number, protocol: known === 'tcp' || known === 'udp' ? known : null };
}
