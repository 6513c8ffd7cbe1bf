import type { LoadedConfig } from '../config/load.ts';
import { PortolanError } from '../domain/errors.ts';
import type { GraphLibrary } from '../engine/graph-library.ts';
import type { Registry } from '../engine/registry.ts';
import { checkModuleDefaults } from '../scan-run/plan/module-defaults.ts';
import type { Component } from './components.ts';
import { type Installed, type Libraries, problemsOf, readLibraries } from './installed.ts';
import type { ServerLog } from './logging/log.ts';

export interface InstalledInput extends Pick<LoadedConfig, 'config' | 'origins'> {
  registry: Registry;
  /** Builtin graphs; those in folders are read at the start and at each reload. */
  library: GraphLibrary;
}

/** Reads the installed graphs and profiles. @throws PortolanError `configuration` */
export async function readInstallation(input: InstalledInput): Promise<Libraries> {
  const { config, registry, library } = input;
  registry.maxRate = () => config.scanner.max_rate;
  const libraries = await readLibraries(library, registry, config, null);
  checkDefaultProfile(input, libraries.service);
  checkModuleDefaults(input, registry);
  return libraries;
}

/** Reads the folders of graphs and profiles again at a reload. Accepted scans keep theirs. */
export function followInstalled(installed: Installed, input: InstalledInput, log: ServerLog): Component {
  const { registry, library, config } = input;
  return {
    start: () => warnAboutProblems(installed.libraries, log),
    reload: {
      profiles: async () => {
        const libraries = await readLibraries(library, registry, config, installed.libraries);
        checkDefaultProfile(input, libraries.service);
        return () => {
          warnAboutProblems(libraries, log);
          installed.libraries = libraries;
        };
      },
    },
  };
}

function warnAboutProblems(libraries: Libraries, log: ServerLog): void {
  for (const { message } of problemsOf(libraries)) log.warn(`skipped a profile or graph file: ${message}`);
}

function checkDefaultProfile(
  { config, origins }: Pick<InstalledInput, 'config' | 'origins'>,
  library: GraphLibrary,
): void {
  const name = config.scanner.default_profile;
  if (library.profile(name)) return;
  const known = library
    .profiles()
    .map((profile) => profile.name)
    .join(', ');
  throw new PortolanError(
    'configuration',
    `${origins.get('scanner.default_profile')} scanner.default_profile: there is no profile ${JSON.stringify(name)}; valid names: ${known}`,
  );
}
