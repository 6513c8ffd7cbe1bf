import {
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { OutputOptions, Plugin } from 'rolldown';
import { hashOf, loadTools, textOf } from './build-inputs.ts';
import { packedFontFolder, packedFonts } from './src/report/pdf/type/fonts.ts';
import { packedLibrary, packedLibraryFolder } from './src/server/http/resources/docs-library.ts';

const root = import.meta.dirname;
const sources = join(root, 'src');
const dist = join(root, 'dist');
/** Hash of what dist/ was made from; its time is that of the build's begin. bin/portolan compares it with the sources. */
const stamp = join(dist, '.stamp');
const inputs = ['src', 'package-lock.json', 'bundle.ts'];

/** Files that a process or thread starts with, or that are loaded by their path. Each becomes a file of the same path in dist/. */
const entries = ['main.ts', 'net/packets/engine/engine-process.ts', '**/*.worker.ts', 'modules/*/*_*.ts'];
/** Those that run in the sandbox of plugins, which reads no folder but theirs: each in one file. */
const confined = [
  'plugins/sandbox/launcher.ts',
  'plugins/sandbox/self-test-host.ts',
  'plugins/host/host.ts',
  'plugins/host/native/execute.worker.ts',
];
/**
 * Files that are loaded together, with all that they import: each set becomes one file, without what an earlier set has. Without
 * these a scan loads 211 files (docs/decisions/0013-bundle.md).
 */
const together: Record<string, string[]> = {
  /** Of processes and threads that load little else. */
  packets: ['net/packets/**/*.worker.ts', 'net/packets/engine/engine-process.ts'],
  command: ['cli/program.ts', 'cli/terminal/help.ts'],
  configuration: ['config/load.ts', 'workspace/workspace-lock.ts'],
  scan: [
    'cli/scan/scan.ts',
    'cli/scan/scan-work.ts',
    'cli/scan/local/local-scan.ts',
    'cli/session/command-plugins.ts',
    'cli/results/result-table.ts',
    'engine/registry.ts',
  ],
  modules: [
    'modules/{discovery,scanner,parser,fingerprint,profiler}/*_*.ts',
    'modules/reporter/json_reporter.ts',
  ],
  /** Of graphs that look for findings. */
  evaluation: ['modules/evaluation/*_*.ts'],
};

/** The package with native parts; pg asks for another one, which nobody installs. */
const external = /^(?:node:|koffi$|pg-native$)/;
/**
 * A comment in one; in others threads for logs (transports), fonts, a color profile and a title, none of which this program
 * asks for.
 */
const usesNoPlace =
  /\/(?:commander\/lib\/command|pino\/lib\/transport|thread-stream\/index|pdfkit\/js\/pdfkit\.node|swagger\/lib\/util\/read-package-json)\.m?js$/;
const anyPackage = /^[^./]/;

/**
 * Bundles the program into dist/, unless it was bundled from the same sources. A process that starts loads some hundred
 * files less than from the sources, and that takes a third of the time.
 *
 * @throws BuildToolsMissing
 */
export async function buildProgram(): Promise<'built' | 'unchanged'> {
  const begun = new Date();
  const hash = hashOf(inputs);
  const outcome = textOf(stamp) === hash ? 'unchanged' : 'built';
  if (outcome === 'built') {
    await buildInto(`${dist}/.next-${process.pid}`);
    writeFileSync(stamp, hash);
  }
  // What was changed since then is newer.
  utimesSync(stamp, begun, begun);
  return outcome;
}

async function buildInto(folder: string): Promise<void> {
  const tools = await loadTools(() => import('rolldown'));
  const packages = new Set<string>();
  const bundle = async (files: string[], external: RegExp, output: OutputOptions, more: Plugin[] = []) => {
    const input = Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ''), join(sources, file)]));
    const plugins = [ownPlaces(packages), ...more];
    // What is loaded together needs no file of its own.
    const checks = { ineffectiveDynamicImport: false };
    const build = await tools.rolldown({
      input,
      platform: 'node',
      external,
      plugins,
      checks,
      logLevel: 'warn',
    });
    await build.write({ dir: folder, entryFileNames: '[name].js', comments: false, ...output });
    await build.close();
  };
  try {
    const { groups, plugin } = loadedTogether();
    const chunks = { chunkFileNames: 'chunks/[name]-[hash].js', codeSplitting: { groups } };
    await bundle(entryFiles(), external, chunks, [lateChildProcess, plainBuiltins, onlyAscii, plugin]);
    for (const file of confined) await bundle([file], anyPackage, { codeSplitting: false });
    copyFiles(packedFonts, join(folder, packedFontFolder));
    copyFiles(packedLibrary, join(folder, packedLibraryFolder));
    packages.add(join(root, 'node_modules/@fastify/swagger-ui/'));
    writeFileSync(join(folder, 'LICENSES.txt'), [...packages].sort().map(licenseOf).join('\n'));
    replaceDist(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Finds what belongs to each set of `together` once all imports are known. What starts by itself is in none. */
function loadedTogether() {
  const sets = new Map<string, Set<string>>();
  const groups = Object.keys(together).map((name, at, { length }) => ({
    name,
    priority: length - at,
    test: (id: string) => sets.get(name)?.has(id) ?? false,
  }));
  const plugin: Plugin = {
    name: 'loaded together',
    buildEnd() {
      const importsOf = (id: string) => this.getModuleInfo(id)?.importedIds ?? [];
      for (const [name, patterns] of Object.entries(together)) {
        const files = globSync(patterns, { cwd: sources }).filter((file) => !file.endsWith('.test.ts'));
        const starts = files.filter((file) => /\.worker\.ts$|-process\.ts$/.test(file));
        const set = closure(
          files.map((file) => join(sources, file)),
          importsOf,
        );
        for (const file of starts) set.delete(join(sources, file));
        sets.set(name, set);
      }
    },
  };
  return { groups, plugin };
}

/** @returns these and all that they import */
function closure(ids: string[], importsOf: (id: string) => readonly string[]): Set<string> {
  const found = new Set<string>();
  const waiting = [...ids];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    waiting.push(...importsOf(id));
  }
  return found;
}

function entryFiles(): string[] {
  const files = globSync(entries, { cwd: sources }).filter((file) => !/\.test\.ts$|\/fixtures\//.test(file));
  return files.filter((file) => !confined.includes(file)).sort();
}

/**
 * A source that starts or reads a file beside it names that by its own place, which a chunk does not have: each gets the
 * place that its compiled form would have in dist/.
 */
function ownPlaces(packages: Set<string>): Plugin {
  return {
    name: 'own places',
    transform(code, id) {
      const name = packageOf(id);
      if (name !== null) return notePackage(packages, name, id, code);
      if (!code.includes('import.meta')) return null;
      const place = JSON.stringify(relative(sources, id).replace(/\.ts$/, '.js'));
      return { code: code.replace(/\bimport\.meta\.(url|filename|dirname)\b/g, `__place(${place}).$1`) };
    },
    renderChunk(code, { fileName }) {
      if (!code.includes('__place(')) return null;
      const up = JSON.stringify(`${relative(dirname(fileName), '.') || '.'}/`);
      return `${placeOf.replace('UP', up)}\n${code}`;
    },
  };
}

const placeOf = `import { fileURLToPath as __path } from "node:url";
const __place = (path) => {
  const url = new URL(path, new URL(UP, import.meta.url));
  return { url: url.href, filename: __path(url), dirname: __path(new URL('.', url)).slice(0, -1) };
};`;

/**
 * An ES import of a builtin module reads every property of it, and some of them are loaded when they are read: node:http
 * takes 35 ms of processor time longer, for a WebSocket that nobody asked for, node:process, fs and util 3 to 5 ms each.
 */
const plainBuiltins: Plugin = {
  name: 'plain builtins',
  renderChunk: (code) =>
    code
      .replace(
        /^import ([\w$]+), (\{[^}]*\}) from "(node:[\w/]+)";$/gm,
        'import $1 from "$3";\nimport $2 from "$3";',
      )
      .replace(/^import \{([^}]*)\} from "(node:[\w/]+)";$/gm, (_, names: string, module: string) => {
        return `const {${names.replaceAll(' as ', ': ')}} = ${builtin(module)};`;
      })
      .replace(/^import (?:\* as )?([\w$]+) from "(node:[\w/]+)";$/gm, (_, name: string, module: string) => {
        return `const ${name} = ${builtin(module)};`;
      })
      .replace(/\bimport\("(node:[\w/]+)"\)/g, (_, module: string) => `Promise.resolve(${builtin(module)})`),
};

/** One other character, and Node.js decodes the whole file into two bytes for each: 37 ms at the start of a scan, by its profile. */
const onlyAscii: Plugin = {
  name: 'only ascii',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue;
      const raw = /String\.raw`[^`]*[^\0-\x7f][^`]*`|\\[^\0-\x7f]/.exec(file.code);
      if (raw) throw new Error(`${file.fileName}: no place for an escape: ${raw[0]}`);
      file.code = file.code.replace(/[^\0-\x7f]/g, escaped);
    }
  },
};

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function builtin(module: string): string {
  return `globalThis.process.getBuiltinModule("${module}")`;
}

/** Commander starts programs for subcommands that are files of their own, which this program does not have. */
const lateChildProcess: Plugin = {
  name: 'late child process',
  resolveId: (id, importer) =>
    id === 'node:child_process' && importer?.includes('/commander/') ? '\0late-child-process' : null,
  load: (id) =>
    id === '\0late-child-process'
      ? `export default { spawn: (...args) => ${builtin('node:child_process')}.spawn(...args) };`
      : null,
};

function packageOf(id: string): string | null {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[0] ?? null;
}

/** @throws Error for a package that reads files beside it: it must stay a package of its own */
function notePackage(packages: Set<string>, folder: string, id: string, code: string): null {
  if (
    !usesNoPlace.test(id) &&
    /\b__dirname\b|\b__filename\b|\bimport\.meta\.(?:url|dirname|filename)/.test(code)
  )
    throw new Error(`${id} uses its place: add its package to \`external\``);
  packages.add(folder);
  return null;
}

/** Notice of a package that is part of the bundle, for those who get it without node_modules/. */
function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(?:licen[cs]e|copying)/i.test(entry));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}\n\n${'-'.repeat(80)}\n`;
}

/** From packages that are not installed with the program. */
function copyFiles(files: readonly { source: string; target: string }[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { source, target } of files)
    copyFileSync(join(root, 'node_modules', source), join(folder, target));
}

/** The Web UI has a build of its own. A file of an earlier build must not be packed. */
function replaceDist(folder: string): void {
  for (const name of readdirSync(dist))
    if (name !== 'ui' && join(dist, name) !== folder)
      rmSync(join(dist, name), { recursive: true, force: true });
  for (const name of readdirSync(folder)) renameSync(join(folder, name), join(dist, name));
}
