import type { LoadedConfig } from '../config/load.ts';
import { PortolanError } from '../domain/errors.ts';
import type { GraphLibrary } from '../engine/graph/graph-library.ts';
import type { Registry } from '../engine/registry.ts';
import { checkConfiguredEgress } from '../scan-run/egress-choice.ts';
import { checkModuleDefaults } from '../scan-run/plan/module-defaults.ts';
import type { Component } from './components.ts';
import type { ServerContext } from './context.ts';
import { type InForce, type Libraries, problemsOf, readLibraries } from './installed.ts';
import { installedChanges } from './installed-changes.ts';
import { configChanged } from './logging/audit.ts';
import type { ServerLog } from './logging/log.ts';
import type { ServerPlugins } from './server-plugins.ts';

export interface InstalledInput extends Pick<LoadedConfig, 'config' | 'origins'> {
  registry: Registry;
  /** Builtin graphs; those in folders are read at the start and at each reload. */
  library: GraphLibrary;
}

/** Where plugins are shared and what is told of them. */
export type InstalledContext = Pick<ServerContext, 'installed' | 'plugins' | 'store' | 'log' | 'audit'>;

/**
 * Loads the plugins, then the installed graphs and profiles, which may name their modules.
 * @param before what was in force until now
 * @throws PortolanError `configuration`
 */
export async function readInstallation(
  input: InstalledInput,
  plugins: ServerPlugins,
  before: Libraries | null = null,
): Promise<InForce> {
  const { config, library } = input;
  input.registry.maxRate = () => config.scanner.max_rate;
  const loaded = await plugins.load(config);
  const libraries = await readLibraries(library, loaded.registry, config, before);
  checkDefaultProfile(input, libraries.service);
  checkModuleDefaults(input, loaded.registry);
  checkConfiguredEgress(config);
  return { ...loaded, libraries };
}

/**
 * Shares the plugins with other servers and workers, and reads plugins and the folders of graphs and profiles again at
 * a reload. Accepted scans keep theirs.
 */
export function followInstalled(context: InstalledContext, input: InstalledInput): Component {
  const { installed, plugins, log } = context;
  const readAgain = async () => {
    installed.replace(await readInstallation(input, plugins, installed.libraries));
    reportInstalled(context);
  };
  let reading = Promise.resolve();
  return {
    start: async () => {
      plugins.followRemote(() => {
        reading = reading
          .then(async () => void (await sharePlugins(context)))
          .then(readAgain)
          .catch((err: unknown) => log.error({ err }, 'cannot load plugins again'));
        return reading;
      });
      if (await sharePlugins(context)) installed.replace(await readInstallation(input, plugins));
      reportInstalled(context);
    },
    drain: () => {
      plugins.followRemote(null);
      return reading;
    },
    reload: {
      profiles: async (config) => {
        await sharePlugins(context);
        const before = { listed: plugins.listed, libraries: installed.libraries };
        const read = await readInstallation({ ...input, config }, plugins, installed.libraries);
        return () => {
          installed.replace(read);
          reportInstalled(context);
          // Files of the command line may have another content now.
          reading = reading.then(async () => void (await sharePlugins(context)));
          // Clients may have changed files since they were read.
          void installed
            .readFolders(config)
            .catch((err: unknown) => log.error({ err }, 'cannot read graphs again'));
          return installedChanges(before, { listed: plugins.listed, libraries: read.libraries });
        };
      },
    },
  };
}

/** Without the database the plugins of this machine are in force all the same. */
async function sharePlugins({ plugins, store, installed, log }: InstalledContext): Promise<boolean> {
  try {
    return await plugins.share(store, installed.plugins);
  } catch (err) {
    log.warn({ err }, 'cannot exchange plugins with the database');
    return false;
  }
}

function reportInstalled({ installed, plugins, log, audit }: InstalledContext): void {
  warnAboutProblems(installed.libraries, log);
  if (plugins.listed.length === 0) return;
  for (const { name, loaded, error } of plugins.listed)
    if (error !== null) log.warn({ plugin: name }, `plugin ${loaded ? 'failed' : 'not loaded'}: ${error}`);
  const details = plugins.listed.map(({ name, version, sha256, signature, error }) => ({
    name,
    version,
    sha256,
    signature: signature.state,
    fingerprint: signature.fingerprint,
    error,
  }));
  void audit.record(configChanged('plugin.load', plugins.fault === null, { plugins: details }));
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
