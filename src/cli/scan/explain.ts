import type { Command } from 'commander';
import type { PortEndpoint } from '../../actions/results/explain-port.ts';
import { serverOption, tokenOption } from '../session/server-flags.ts';
import { guarded, usage } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { ExplainFlags } from './explain-work.ts';

/** `explain`: the way from what a service said to what is claimed of it. */
export function addExplainCommand(program: Command): void {
  program
    .command('explain')
    .description(
      'show why a scan says what it says of a host: what it answered, which rule read it, what follows',
    )
    .argument('<scan_id>', 'scan id')
    .argument(
      '<host[:port]>',
      'address or name, with a port for one service: 192.0.2.1:22, [2001:db8::1]:53/udp',
    )
    .addOption(formatOption())
    .addOption(serverOption())
    .addOption(tokenOption())
    .addHelpText(
      'after',
      '\nReads the record of the scan; nothing is sent to the host. Rules and vulnerability data are looked up on this machine.',
    )
    .action(
      guarded(async (scanId: string, place: string, flags: ExplainFlags, command: Command) => {
        const { explain } = await import('./explain-work.ts');
        return explain(scanId, readEndpoint(place), flags, globalFlags(command));
      }),
    );
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
