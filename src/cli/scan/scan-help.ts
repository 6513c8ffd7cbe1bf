import type { Command } from 'commander';
import { rareFlags } from '../terminal/rare-flags.ts';

/** Help of `scan`: `-h` is the short text, `--help` adds the flags that it does not name. */
export function scanHelp(scan: Command, isShort: boolean): string {
  return isShort ? shortHelp : `${shortHelp}\n${rareFlags(scan, shortHelp, 'Rare flags')}`;
}

/** At most 40 lines of 80 columns. */
const shortHelp = `Usage: portolan scan TARGET... [flags]
       portolan scan list, show|export|delete|diff|watch|resume|pause|cancel ID

Targets: address, CIDR, 10.0.0-3.1,7, host name, @FILE, - for stdin
  -f, --target-file FILE     more targets: lines, blanks or commas between
      --exclude LIST         leave these out (--exclude-file FILE)
Ports
  -p, --ports LIST           22,80,8000-8100, ssh, 'http*', all (top-1000)
      --top-ports N          the N most frequent; --exclude-ports LIST
      --scan-type TYPE       syn, connect, udp (syn where rights allow)
Hosts
      --only-discover        which hosts are up, no ports
      --no-discover          scan ports of hosts that do not respond
What to look for
  -p, --profile NAME         quick, standard, deep, webapp, infrastructure
      --vuln                 findings; --min-severity LEVEL, --intrusive
      --compliance LIST      check against cis, pci, nist
      --no-fingerprint       ports only
How fast
  -r, --rate N|auto          packets per second (scanner.rate, else auto)
      --timeout TIME         wait for a response (3s); --retries N (1)
      --concurrency N        open connections (auto); --max-duration TIME
What comes out
  -o, --output FILE          its ending sets the format
      --format FORMAT        text, hostport, json, jsonl, csv, yaml, html, pdf,
                             nmap, sarif
      --compare-with ID      show what changed; --fail-on-change: exit 8
      --dry-run              packets and duration; sends nothing
On a server
      --server URL           scan there; --pool, --schedule CRON, --no-wait

  portolan scan 192.0.2.10 -p 22,80,443
  portolan scan 192.0.2.0/24 --exclude 192.0.2.1 -r 500 -o report.html
  cat hosts | portolan scan - --format hostport | sort -u

Rare flags: portolan scan --help. Everywhere: portolan --help.
The first Ctrl-C keeps the results. Used to nmap: portolan help nmap
`;
