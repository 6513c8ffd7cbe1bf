import { type Command, Option } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption, listFormatOption } from '../terminal/output-options.ts';
import type { CliWiring } from '../wiring.ts';
import type { InstallFlags } from './plugin-install.ts';

interface UpdateFlags {
  force?: boolean;
  sha256?: string;
  rollback?: boolean;
}

/** `plugin`: pack, sign and install plugins. */
export function addPluginCommand(program: Command, wiring: CliWiring): void {
  const plugin = program.command('plugin').description('pack, sign, install and list plugins');
  addReadingCommands(plugin, wiring);
  addNewCommand(plugin, wiring);
  addTestCommand(plugin, wiring);
  addChangingCommands(plugin, wiring);
  addPublisherCommands(plugin);
}

function addReadingCommands(plugin: Command, wiring: CliWiring): void {
  plugin
    .command('list')
    .description('list installed plugins with the state of their signatures')
    .addOption(listFormatOption())
    .action(
      guarded(async ({ format }: { format: string }, command: Command) => {
        const { listInstalledPlugins } = await import('./plugin-list.ts');
        return listInstalledPlugins(format, globalFlags(command), wiring);
      }),
    );
  plugin
    .command('info')
    .description('show an installed plugin and its manifest')
    .argument('<name>', 'name of the plugin')
    .addOption(formatOption())
    .action(
      guarded(async (name: string, { format }: { format: string }, command: Command) => {
        const { showPluginInfo } = await import('./plugin-info.ts');
        return showPluginInfo(name, format, globalFlags(command), wiring);
      }),
    );
  plugin
    .command('verify')
    .description('check a plugin and its signature: exit 0 if a trusted publisher signed it, else 5')
    .argument('<file>', 'package or bare file; its signature is <file>.sig')
    .addOption(formatOption())
    .action(
      guarded(async (file: string, { format }: { format: string }, command: Command) => {
        const { verifyPlugin } = await import('./plugin-verify.ts');
        return verifyPlugin(file, format, globalFlags(command));
      }),
    );
}

function addNewCommand(plugin: Command, wiring: CliWiring): void {
  plugin
    .command('new')
    .description('create a folder with a plugin that works, to start from')
    .argument('<kind>', 'script, native, wasm, rules or grpc')
    .argument('<name>', 'name of the plugin and of its folder')
    .action(
      guarded(async (kind: string, name: string, _flags: object, command: Command) => {
        const { createPlugin } = await import('./plugin-new.ts');
        return createPlugin(kind, name, wiring, globalFlags(command));
      }),
    );
}

function addTestCommand(plugin: Command, wiring: CliWiring): void {
  plugin
    .command('test')
    .description('try a plugin: exit 0 if a rule fires, or if the plugin loads and its run completes, else 1')
    .argument('<file>', 'plugin, package or folder of one')
    .argument('[sample]', 'input: {"key": [items]} (JSON), a port as in results, a result, or results.jsonl')
    .option('--explain', 'show each condition of each rule and what was seen')
    .addOption(formatOption())
    .action(
      guarded(
        async (
          file: string,
          sample: string | undefined,
          flags: { format: string; explain?: boolean },
          command: Command,
        ) => {
          const { testPlugin } = await import('./plugin-test.ts');
          return testPlugin(file, sample ?? null, flags, wiring, globalFlags(command));
        },
      ),
    );
}

function addChangingCommands(plugin: Command, wiring: CliWiring): void {
  plugin
    .command('install')
    .description('install a package or a bare file; nothing of it is run')
    .argument(
      '<source>',
      'file (with a slash or a dot), URL, or name or category in the index of plugins.manifest_url',
    )
    .option('--sha256 <hex>', 'expected SHA-256 of the file; required for a URL')
    .option('--force', 'replace the same version with other content, and install without what it requires')
    .option('--name <name>', 'name of a bare file (default: from its file name)')
    .option('--plugin-version <version>', 'version of a bare file (default: 0.1.0)')
    .addOption(
      new Option('--permission <permission...>', 'what a bare file may do (default: nothing)').choices([
        'network',
      ]),
    )
    .action(
      guarded(async (source: string, flags: InstallFlags, command: Command) => {
        const { install } = await import('./plugin-install.ts');
        return install(source, flags, wiring, globalFlags(command));
      }),
    );
  plugin
    .command('update')
    .description('install the version of the index, or return to the previous version')
    .argument('<name>', 'name of the plugin')
    .option('--rollback', 'return to the previous version')
    .option('--sha256 <hex>', 'expected SHA-256 of the package')
    .option('--force', 'replace the same version with other content')
    .action(
      guarded(async (name: string, flags: UpdateFlags, command: Command) => {
        const { update } = await import('./plugin-update.ts');
        return update(name, flags, wiring, globalFlags(command));
      }),
    );
  plugin
    .command('remove')
    .alias('uninstall')
    .description('remove a plugin with all its versions')
    .argument('<name>', 'name of the plugin')
    .option('--force', 'remove it although other plugins require it')
    .action(
      guarded(async (name: string, flags: { force?: boolean }, command: Command) => {
        const { remove } = await import('./plugin-remove.ts');
        return remove(name, flags, globalFlags(command));
      }),
    );
}

function addPublisherCommands(plugin: Command): void {
  plugin
    .command('keygen')
    .description('create a key pair of a publisher and print its fingerprint')
    .option('-o, --output <folder>', 'directory for plugin-private.pem and plugin-public.pem', '.')
    .option('--force', 'replace existing keys')
    .action(
      guarded(async ({ output, force }: { output: string; force?: boolean }) => {
        const { createPublisherKeys } = await import('./plugin-keygen.ts');
        return createPublisherKeys(output, force ?? false);
      }),
    );
  plugin
    .command('sign')
    .description('sign a package, a bare file or an index: writes <file>.sig')
    .argument('<file>', 'package, bare file or index')
    .requiredOption('--key <file>', 'private key of plugin keygen')
    .requiredOption('--publisher <name>', 'name of the publisher')
    .option('--expiry <duration>', 'lifetime of the signature, e.g. 365d (default: unlimited)')
    .action(
      guarded(async (file: string, flags: { key: string; publisher: string; expiry?: string }) => {
        const { signPlugin } = await import('./plugin-sign.ts');
        return signPlugin(file, flags);
      }),
    );
  plugin
    .command('pack')
    .description('make a package of a folder with plugin.yaml; writes the hash of each file into it')
    .argument('<folder>', 'folder with plugin.yaml')
    .option('-o, --output <file>', 'package (default: <name>-<version>.tar.gz)')
    .option('--force', 'replace an existing file')
    .action(
      guarded(async (folder: string, flags: { output?: string; force?: boolean }) => {
        const { pack } = await import('./plugin-pack.ts');
        return pack(folder, flags);
      }),
    );
}
