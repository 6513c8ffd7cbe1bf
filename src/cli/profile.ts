import { type Command, Option } from 'commander';
import { PortolanError } from '../domain/errors.ts';
import type { LibraryEntry } from '../engine/graph-library.ts';
import { renderColumns } from './columns.ts';
import { guarded } from './failure.ts';
import { print } from './output.ts';
import { jsonText } from './printable.ts';
import { loadCatalogue } from './session.ts';
import type { CliWiring } from './wiring.ts';

export function addProfileCommand(program: Command, wiring: CliWiring): void {
  const profile = program.command('profile').description('show the scan profiles');
  profile
    .command('list')
    .description('list every profile')
    .addOption(new Option('--format <format>', 'form').choices(['text', 'json']).default('text'))
    .action(guarded(({ format }: { format: string }) => list(format, wiring)));
  profile
    .command('show')
    .description('print the graph file of a profile')
    .argument('<name>', 'name or alias of a profile')
    .addOption(new Option('--format <format>', 'form').choices(['text', 'json']).default('text'))
    .action(guarded((name: string, { format }: { format: string }) => show(name, format, wiring)));
}

async function list(format: string, wiring: CliWiring): Promise<number> {
  const { library } = await loadCatalogue(wiring);
  const profiles = library.list().filter((entry) => entry.kind === 'profile');
  if (format === 'json') print(jsonText({ profiles: profiles.map(profileOut) }));
  else {
    const rows = profiles.map((entry) => [
      entry.name,
      entry.aliases.join(', ') || '-',
      entry.source,
      entry.description,
    ]);
    print(renderColumns(['NAME', 'ALIASES', 'SOURCE', 'DESCRIPTION'], rows));
  }
  return 0;
}

async function show(name: string, format: string, wiring: CliWiring): Promise<number> {
  const { library } = await loadCatalogue(wiring);
  const entry = library.profile(name);
  if (!entry) {
    const known = library.profileNames().join(', ');
    throw new PortolanError('not_found', `no profile "${name}"; there are ${known}`);
  }
  if (format === 'json') print(jsonText(profileOut(entry)));
  else {
    const { readFile } = await import('node:fs/promises');
    print(await readFile(entry.file, 'utf8'));
  }
  return 0;
}

function profileOut({ name, description, source, aliases }: LibraryEntry): Record<string, unknown> {
  return { name, description, source, aliases };
}
