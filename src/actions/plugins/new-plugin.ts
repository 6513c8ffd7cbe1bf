import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { PortolanError } from '../../domain/errors.ts';
import { checkPluginName, manifestFile, type PluginKind, parseManifest } from '../../plugins/manifest.ts';

/** Examples and headers, beside `src/` and `dist/`. */
const sdkDir = resolve(import.meta.dirname, '../../../sdk');

/** What a new plugin of a kind begins with: an example of the SDK under another name. */
interface Template {
  /** Path in `sdk/`, and path in the folder; `NAME` stands for the module name. */
  files: Record<string, string>;
  entry: string;
  permissions?: string[];
  /** Texts of the example, and what stands in their place. */
  changes: [text: string, change: string][];
  /** Commands that make the entry or start the plugin, for the README. */
  build: string[];
}

const newKinds = ['script', 'native', 'wasm', 'rules', 'grpc'] as const;
type NewKind = (typeof newKinds)[number] & PluginKind;

const templates: Record<NewKind, Template> = {
  script: {
    files: {
      'script/pop3_apop.ts': 'NAME.ts',
      'script/sample.json': 'sample.json',
      'types/portolan.d.ts': 'portolan.d.ts',
    },
    entry: 'NAME.ts',
    changes: [
      ['pop3_apop', 'NAME'],
      ['../types/portolan.d.ts', './portolan.d.ts'],
    ],
    build: [],
  },
  native: {
    files: {
      'c/example/ssh_age.c': 'NAME.c',
      'c/example/Makefile': 'Makefile',
      'c/example/sample.json': 'sample.json',
      'c/service_plugin.h': 'service_plugin.h',
    },
    entry: 'NAME.so',
    changes: [
      ['ssh_age', 'NAME'],
      ['../service_plugin.h', 'service_plugin.h'],
      ['-I..', '-I.'],
    ],
    build: ['make'],
  },
  wasm: {
    files: { 'wasm/http-trace.wat': 'NAME.wat', 'wasm/sample.json': 'sample.json' },
    entry: 'NAME.wasm',
    permissions: ['network'],
    // Texts in the memory keep their length.
    changes: [
      ['{\\"name\\":\\"http_trace\\"', '{\\"name\\":\\"NAME\\"'],
      ['http-trace.wat', 'NAME.wat'],
    ],
    build: ['npx -p wabt wat2wasm --enable-annotations NAME.wat'],
  },
  rules: {
    files: { 'rules/ssh-old-openssh.yaml': 'NAME.yaml', 'rules/sample.json': 'sample.json' },
    entry: 'NAME.yaml',
    changes: [['id: ssh-old-openssh', 'id: RULE']],
    build: [],
  },
  grpc: {
    files: {
      'grpc/python/ssh_protocol_one.py': 'NAME.py',
      'grpc/python/portolan_plugin.py': 'portolan_plugin.py',
      'grpc/python/sample.json': 'sample.json',
      'grpc/module.proto': 'module.proto',
    },
    entry: '127.0.0.1:50051',
    changes: [
      ['"ssh_protocol_one"', '"NAME"'],
      ['../module.proto', 'module.proto'],
    ],
    build: ['python3 NAME.py 127.0.0.1:50051 &'],
  },
};

/**
 * Writes a folder with a plugin that works: manifest, source, sample and README.
 * @returns its path
 * @throws PortolanError `usage` for a bad kind or name, `configuration` for a builtin name, `conflict` if the folder exists
 */
export async function newPlugin(
  kind: string,
  name: string,
  { parent, builtin }: { parent: string; builtin: readonly string[] },
): Promise<string> {
  const known = newKinds.find((each) => each === kind);
  if (!known) throw new PortolanError('usage', `unknown kind "${kind}" (${newKinds.join(', ')})`);
  checkPluginName(name);
  const module = name.replaceAll('-', '_');
  if (builtin.includes(name) || builtin.includes(module))
    throw new PortolanError('configuration', `"${name}" is the name of a builtin module`);
  const files = await filesOf(known, name, module);
  const folder = join(parent, name);
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new PortolanError('conflict', `${folder} exists`);
    throw new PortolanError('usage', `cannot create ${folder}: ${error.code ?? error.message}`);
  });
  try {
    for (const [path, text] of files) await writeFile(join(folder, path), text, { flag: 'wx' });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

async function filesOf(kind: NewKind, name: string, module: string): Promise<Map<string, string>> {
  const { files: sources, entry, permissions = [], changes, build } = templates[kind];
  const named = (text: string) =>
    text.replaceAll('NAME', module).replaceAll('RULE', name.replaceAll('_', '-'));
  const files = new Map<string, string>();
  for (const [from, to] of Object.entries(sources)) {
    const text = await readFile(join(sdkDir, from), 'utf8');
    const changed = changes.reduce((sum, [old, fresh]) => sum.replaceAll(old, () => named(fresh)), text);
    files.set(named(to), changed);
  }
  const stage = kind !== 'rules' && kind !== 'grpc' && { stage: 'evaluation' };
  const manifest = { name, version: '0.1.0', kind, entry: named(entry), permissions, ...stage };
  files.set(manifestFile, stringify(manifest));
  parseManifest(stringify(manifest), { draft: true });
  files.set('README.md', readmeOf(kind, name, build.map(named)));
  return files;
}

function readmeOf(kind: NewKind, name: string, build: readonly string[]): string {
  const commands = [
    ...build,
    'portolan plugin test . sample.json',
    `portolan plugin pack . -o ../${name}.tar.gz`,
    `portolan scan 192.0.2.0/28 --plugin ../${name}.tar.gz`,
    `portolan plugin install ../${name}.tar.gz`,
  ];
  return `# ${name}
A plugin of kind ${kind} for Portolan. It works as it is: change what it looks for, then try it on \`sample.json\`.
\`\`\`
${commands.join('\n')}
\`\`\`
`;
}
