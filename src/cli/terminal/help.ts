import type { Command } from 'commander';
import { print } from './output.ts';
import { rareFlags } from './rare-flags.ts';

/**
 * Prints the help of the program, or the table of nmap's flags.
 * @param words from the first that is no flag of the program: `--help`, `help nmap`
 * @param isMissing no command was given: the help is an error
 * @returns the exit code; null for the help of a command, which commander prints
 */
export async function printHelp(
  program: Command,
  words: readonly string[],
  isMissing: boolean,
): Promise<number | null> {
  if (words[0] === 'help' && words[1] === 'nmap') {
    const { nmapHelp } = await import('../scan/nmap/nmap-help.ts');
    print(nmapHelp());
    return 0;
  }
  if (words[0] === 'help' && words[1] !== undefined) return null;
  if (isMissing) {
    process.stderr.write(programHelp);
    return 2;
  }
  if (words[0] === '--help') print(`${programHelp}\n${rareFlags(program, programHelp, 'Everywhere')}`);
  else print(programHelp);
  return 0;
}

/** At most 40 lines of 80 columns. */
export const programHelp = `Usage: portolan COMMAND [flags]           e.g. portolan scan 192.0.2.10

Finds hosts, open ports, services and their flaws, and keeps what it found.

Scan
  scan TARGET...       scan hosts and networks; also watch, resume, diff a scan
  explain HOST[:PORT]  show why a scan says what it says
Results
  workspace            list, show, export and delete kept scans
  vulndb, fingerprint  the data that findings and products come from
Server
  server               start, stop and inspect the server with its Web UI
  job, schedule        recurring scans of a server
  worker               scan for servers on other machines
  alert, notification  try rules and channels
What scans do
  profile, dag         ready-made scans, and your own as graphs
  module, plugin       the parts they are made of
This machine
  doctor               what this machine allows, with a remedy for each lack
  config               write, check and show the configuration
  backup, restore      all of it in one file, checked, also while it runs
  license, audit, store, selftest, completion, version

Everywhere
  --config FILE  --workspace-dir DIR  --no-workspace  -v, -vv  -q  --no-color
  --log-level LEVEL  --log-format text|json  --help  --version
An ID may be shortened to a unique prefix; "latest" is the newest scan.

  portolan scan 192.0.2.0/24 -p 22,443     only these ports of a network
  portolan scan -f hosts.txt --vuln        with findings
  portolan server start                    Web UI on http://127.0.0.1:8080/ui

Exit: 0 ok, 1 error, 2 usage, 3 configuration, 4 network, 5 permission,
6 timeout, 7 failed or partial, 8 changed. Used to nmap: portolan help nmap
`;
