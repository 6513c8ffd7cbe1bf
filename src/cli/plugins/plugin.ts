import { Option } from 'commander';
import type { CliCommand } from '../terminal/cli-command.ts';
import { formatOption, listFormatOption } from '../terminal/output-options.ts';

/** `plugin`: pack, sign and install plugins. */
export function addPluginCommand(program: CliCommand): void {
  const plugin = program.command('plugin').description('pack, sign, install and list plugins');
  addReadingCommands(plugin);
  addNewCommand(plugin);
  addTestCommand(plugin);
  addChangingCommands(plugin);
  addPublisherCommands(plugin);
}

function addReadingCommands(plugin: CliCommand): void {
  plugin
    .command('list')
    .description('list installed plugins with the state of their signatures')
    .addOption(listFormatOption())
    .runs(async () => (await import('./plugin-list.ts')).listInstalledPlugins);
  plugin
    .command('info')
    .description('show an installed plugin and its manifest')
    .argument('<name>', 'name of the plugin')
    .addOption(formatOption())
    .runs(async () => (await import('./plugin-info.ts')).showPluginInfo);
  plugin
    .command('verify')
    .description('check a plugin and its signature: exit 0 if a trusted publisher signed it, else 5')
    .argument('<file>', 'package or bare file; its signature is <file>.sig')
    .addOption(formatOption())
    .runs(async () => (await import('./plugin-verify.ts')).verifyPlugin);
}

function addNewCommand(plugin: CliCommand): void {
  plugin
    .command('new')
    .description('create a folder with a plugin that works, to start from')
    .argument('<kind>', 'script, native, wasm, rules or grpc')
    .argument('<name>', 'name of the plugin and of its folder')
    .runs(async () => (await import('./plugin-new.ts')).createPlugin);
}

function addTestCommand(plugin: CliCommand): void {
  plugin
    .command('test')
    .description('try a plugin: exit 0 if a rule fires, or if the plugin loads and its run completes, else 1')
    .argument('<file>', 'plugin, package or folder of one')
    .argument('[sample]', 'input: {"key": [items]} (JSON), a port as in results, a result, or results.jsonl')
    .option('--explain', 'show each condition of each rule and what was seen')
    .addOption(formatOption())
    .runs(async () => (await import('./plugin-test.ts')).testPlugin);
}

function addChangingCommands(plugin: CliCommand): void {
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
    .option('--plugin-version <version>', 'version of a bare file (default: its own, else 0.1.0)')
    .addOption(
      new Option('--permission <permission...>', 'what a bare file may do (default: nothing)').choices([
        'network',
      ]),
    )
    .addOption(
      new Option(
        '--stage <stage>',
        'where the module of a bare file belongs: it runs in the builtin profiles (default: as it says)',
      ).choices(['discovery', 'scanner', 'parser', 'fingerprint', 'profiler', 'evaluation']),
    )
    .runs(async () => (await import('./plugin-install.ts')).install);
  plugin
    .command('update')
    .description('install the version of the index, or return to the previous version')
    .argument('<name>', 'name of the plugin')
    .option('--rollback', 'return to the previous version')
    .option('--sha256 <hex>', 'expected SHA-256 of the package')
    .option('--force', 'replace the same version with other content')
    .runs(async () => (await import('./plugin-update.ts')).update);
  plugin
    .command('remove')
    .alias('uninstall')
    .description('remove a plugin with all its versions')
    .argument('<name>', 'name of the plugin')
    .option('--force', 'remove it although other plugins require it')
    .runs(async () => (await import('./plugin-remove.ts')).remove);
}

function addPublisherCommands(plugin: CliCommand): void {
  plugin
    .command('keygen')
    .description('create a key pair of a publisher and print its fingerprint')
    .option('-o, --output <folder>', 'directory for plugin-private.pem and plugin-public.pem', '.')
    .option('--force', 'replace existing keys')
    .runs(async () => (await import('./plugin-keygen.ts')).createPublisherKeys);
  plugin
    .command('sign')
    .description('sign a package, a bare file or an index: writes <file>.sig')
    .argument('<file>', 'package, bare file or index')
    .requiredOption('--key <file>', 'private key of plugin keygen')
    .requiredOption('--publisher <name>', 'name of the publisher')
    .option('--expiry <duration>', 'lifetime of the signature, e.g. 365d (default: unlimited)')
    .runs(async () => (await import('./plugin-sign.ts')).signPlugin);
  plugin
    .command('pack')
    .description('make a package of a folder with plugin.yaml; writes the hash of each file into it')
    .argument('<folder>', 'folder with plugin.yaml')
    .option('-o, --output <file>', 'package (default: <name>-<version>.tar.gz)')
    .option('--force', 'replace an existing file')
    .runs(async () => (await import('./plugin-pack.ts')).pack);
}
