import { PortolanError } from '../../domain/errors.ts';
import type { GraphLibrary, ProfileEntry } from '../../engine/graph/graph-library.ts';
import { isProfileFile, withProfileFile } from '../scan/profile-choice.ts';
import { loadInstalled } from '../session/session.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { printableJson, printableLines } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { CliWiring } from '../wiring.ts';
import { nodesOut } from './graph-text.ts';

export function addProfileCommand(program: CliCommand): void {
  const profile = program.command('profile').description('show the scan profiles');
  profile
    .command('list')
    .description('list every profile')
    .addOption(formatOption())
    .runs(() => list);
  profile
    .command('show')
    .description('print a profile; validate it if it is a file')
    .argument('<name>', 'name or alias of a profile, or a profile file')
    .addOption(formatOption())
    .runs(() => show);
}

async function list({ format }: { format: string }, global: GlobalFlags, wiring: CliWiring): Promise<void> {
  const { library } = await loadInstalled(wiring, global);
  const profiles = library.profiles();
  if (format === 'json') {
    print(printableJson({ profiles: profiles.map(profileOut), problems: library.problems }));
    return;
  }
  const { printTable } = await import('../terminal/draw/print-table.ts');
  printTable(
    [
      { head: 'NAME', cell: ({ name }) => name },
      { head: 'ALIASES', cell: ({ aliases }) => aliases.join(', ') || null },
      { head: 'SOURCE', cell: ({ source }) => source },
      { head: 'DESCRIPTION', cell: ({ description }) => description, over: 'wrap' },
    ],
    profiles,
    global,
    [['DESCRIPTION', 24]],
  );
}

async function show(
  name: string,
  { format }: { format: string },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const catalogue = await loadInstalled(wiring, global);
  const chosen = isProfileFile(name) ? await withProfileFile(catalogue, name) : { catalogue, profile: name };
  const entry = findProfile(chosen.catalogue.library, chosen.profile);
  if (format === 'text') print(printableLines(entry.text));
  else print(printableJson({ ...profileOut(entry), ...settingsOut(entry), nodes: nodesOut(entry.graph) }));
}

function findProfile(library: GraphLibrary, name: string): ProfileEntry {
  const entry = library.profile(name);
  if (entry) return entry;
  const known = library.profileNames().join(', ');
  throw new PortolanError('not_found', `unknown profile "${name}" (${known})`);
}

function profileOut({ name, description, source, aliases }: ProfileEntry): Record<string, unknown> {
  return { name, description, source, aliases };
}

/** A builtin profile is its graph, without settings. */
function settingsOut({ dag, settings }: ProfileEntry): Record<string, unknown> {
  return settings === null ? {} : { dag, settings };
}
