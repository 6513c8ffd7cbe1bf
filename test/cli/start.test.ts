import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../program.ts';
import { Home, run } from './command.ts';

const home = new Home();
const folder = mkdtempSync(join(tmpdir(), 'portolan-start-'));
afterAll(() => {
  home.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Told to Node.js before the program: writes the files of all modules that were loaded. */
const counter = join(folder, 'counter.mjs');
const list = join(folder, 'loaded.json');

/** The modules that a command loads, without those of Node.js. */
async function loadedBy(args: string[], from: 'sources' | 'bundle' = 'sources'): Promise<string[]> {
  const env = { NODE_OPTIONS: `--import=${counter}`, PORTOLAN_SOURCES: from === 'sources' ? '1' : '0' };
  const { code, stderr } = await home.start(args, { env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const urls = JSON.parse(readFileSync(list, 'utf8')) as string[];
  return urls.filter((url) => !url.startsWith('node:')).map((url) => url.replace(`file://${root}/`, ''));
}

function packagesOf(files: readonly string[]): string[] {
  const names = files.flatMap((file) => /\bnode_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

describe('a command loads what it needs', () => {
  beforeAll(() => {
    writeFileSync(
      counter,
      `import { registerHooks } from 'node:module';
       import { writeFileSync } from 'node:fs';
       const urls = [];
       registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
       process.on('exit', () => writeFileSync(${JSON.stringify(list)}, JSON.stringify(urls)));`,
    );
  });

  it('--help: the command line alone', async () => {
    const loaded = await loadedBy(['--help']);
    expect(packagesOf(loaded)).toEqual(['commander']);
    expect(loaded.length).toBeLessThanOrEqual(60);
    expect(loaded.length).toBeGreaterThan(20);
  });

  it('version: one command of it', async () => {
    expect((await loadedBy(['version'])).length).toBeLessThanOrEqual(25);
  });

  it('scan: no server, no query builder, no renderer and no module that its graph does not name', async () => {
    const args = ['scan', '127.0.0.1', '-p', 'quick', '--ports', '1', '--workspace-dir', join(folder, 'ws')];
    // The first scan makes the store, by more than a scan needs.
    expect((await home.start(args)).code).toBe(0);
    const loaded = await loadedBy(args);
    const used = packagesOf(loaded).filter((name) => name !== 'koffi' && !name.startsWith('@koromix/'));
    // The tokenizer of HTML brings the rest of its package along, which the built program leaves out.
    const html = ['dom-serializer', 'domelementtype', 'domhandler', 'domutils', 'entities', 'htmlparser2'];
    expect(used).toEqual(['commander', ...html, 're2js', 'yaml']);
    expect(loaded.filter((file) => /server\/|render\/html|modules\/evaluation/.test(file))).toEqual([]);
    const own = loaded.filter((file) => file.startsWith('src/'));
    console.log(`scan: ${loaded.length} modules, ${own.length} of them our own`);
    // Many small files, some 450; a margin for a few more. What a scan must not load is listed above.
    expect(own.length).toBeLessThanOrEqual(455);
  });
});

const isBundled = existsSync(join(root, 'dist', 'main.js'));
if (!isBundled) console.log('skipped: the bundled program (npm run build makes it)');

describe.runIf(isBundled)('the bundled program', () => {
  it('runs from dist/ alone, with the packages that have native parts', async () => {
    const args = ['scan', '127.0.0.1', '-p', 'quick', '--ports', '1', '--workspace-dir', join(folder, 'ws')];
    expect((await home.start(args, { env: { PORTOLAN_SOURCES: '0' } })).code).toBe(0);
    const loaded = await loadedBy(args, 'bundle');
    expect(packagesOf(loaded).filter((name) => !name.startsWith('@koromix/'))).toEqual(['koffi']);
    expect(loaded.filter((file) => file.startsWith('src/'))).toEqual([]);
    console.log(`scan: ${loaded.length} files of the bundle`);
    // Some 35, where the sources are 470 files; a margin for a few more.
    expect(loaded.length).toBeLessThanOrEqual(50);
  });

  it('gives the processes and threads for packets one file more, and none of the command line', () => {
    const threads = globSync('dist/net/packets/**/*.js', { cwd: root });
    expect(threads.length).toBeGreaterThanOrEqual(4);
    for (const file of threads) {
      const imported = [...readFileSync(join(root, file), 'utf8').matchAll(/ from "([^"]+)"/g)];
      expect(imported.map(([, name]) => name)).toEqual([
        expect.stringMatching(/\/chunks\/packets-[\w-]+\.js$/),
      ]);
    }
  });

  it('has no character that would double the memory of a file', () => {
    const own = globSync('dist/{*.js,chunks/*.js}', { cwd: root });
    expect(own.length).toBeGreaterThan(100);
    expect(own.filter((file) => /[^\0-\x7f]/.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });

  it('says so', async () => {
    const env = { PORTOLAN_SOURCES: '0' };
    expect((await home.start(['version'], { env })).stdout).toMatch(/, built \d{4}-\S+Z$/m);
  });
});

/** What the program in the place of the program says of itself. */
interface Told {
  pid: number;
  flags: string[];
  words: string[];
  arenas: string | null;
}

/** A program of two lines in the place of the program, started by the true launcher. */
describe('the launcher as a shell reads it', () => {
  const app = join(folder, 'app', 'node_modules', 'portolan');
  const started = join(app, 'bin', 'portolan');
  const node = join(folder, 'app', 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');

  beforeAll(() => {
    mkdirSync(join(app, 'dist'), { recursive: true });
    cpSync(join(root, 'bin'), join(app, 'bin'), { recursive: true });
    mkdirSync(join(node, '..'), { recursive: true });
    symlinkSync(process.execPath, node);
    writeFileSync(
      join(app, 'dist', 'main.js'),
      `console.log(JSON.stringify({ pid: process.pid, flags: process.execArgv, words: process.argv.slice(2),
         arenas: process.env.MALLOC_ARENA_MAX ?? null }));`,
    );
    writeFileSync(join(app, 'package.json'), '{"type": "module"}');
  });

  async function tell(program: string, words: string[], env: NodeJS.ProcessEnv = {}) {
    let pid = 0;
    const ended = await run(program, words, {
      env: { ...home.env, ...env },
      cwd: folder,
      started: (child) => {
        pid = child.pid ?? 0;
      },
    });
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
    return { ...(JSON.parse(ended.stdout) as Told), started: pid };
  }

  it.each([
    ['--help', [], null],
    ['scan', ['--max-semi-space-size=4', '--min-semi-space-size=4'], '1'],
    ['export', ['--max-semi-space-size=4', '--min-semi-space-size=4', '--heap-growing-percent=30'], '1'],
    ['server', ['--max-semi-space-size=2', '--min-semi-space-size=2', '--heap-growing-percent=20'], '1'],
  ])('becomes the Node.js of its package, with the flags of %s', async (word, heapFlags, arenas) => {
    const words = [word, 'two words', '$HOME', '*'];
    const told = await tell(started, words);
    // Started anew it would have another process id.
    expect(told).toMatchObject({ words, flags: heapFlags, arenas, pid: told.started });
  });

  it.each(['the shell', 'Node.js'])(
    'runs the bundle of a checkout while no source is newer, started by %s',
    async (by) => {
      const checkout = mkdtempSync(join(folder, 'checkout-'));
      const launcher = join(checkout, 'bin', 'portolan');
      for (const part of ['bin', 'dist', 'package.json'])
        cpSync(join(app, part), join(checkout, part), { recursive: true });
      mkdirSync(join(checkout, 'src'));
      const source = join(checkout, 'src', 'main.ts');
      writeFileSync(source, "console.log(JSON.stringify({ words: ['sources'] }));");
      writeFileSync(join(checkout, 'package-lock.json'), '{}');
      const wordsOf = async (env: NodeJS.ProcessEnv = {}) =>
        (await (by === 'Node.js' ? tell(process.execPath, [launcher], env) : tell(launcher, [], env))).words;
      expect(await wordsOf()).toEqual(['sources']);
      writeFileSync(join(checkout, 'dist', '.stamp'), '');
      expect(await wordsOf()).toEqual([]);
      expect(await wordsOf({ PORTOLAN_SOURCES: '1' })).toEqual(['sources']);
      const later = new Date(Date.now() + 60_000);
      utimesSync(source, later, later);
      expect(await wordsOf()).toEqual(['sources']);
    },
  );

  it('prints the version without Node.js, as Node.js prints it', async () => {
    const bare = mkdtempSync(join(folder, 'no-node-'));
    const env = { ...home.env, PATH: bare };
    const launcher = join(root, 'bin', 'portolan');
    const [byShell, byNode] = [
      await run(launcher, ['--version'], { env }),
      await run(process.execPath, [launcher, '--version'], { env: home.env }),
    ];
    expect(byShell).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^portolan \d/) });
    expect(byShell.stdout).toBe(byNode.stdout);
  });

  it('takes the flags that Node.js itself would give it', async () => {
    const words = ['--verbose', 'server', 'scan'];
    const [byShell, byNode] = [await tell(started, words), await tell(process.execPath, [started, ...words])];
    expect(byShell.flags).toEqual(byNode.flags);
  });

  it('is found through links, and leaves what the environment says', async () => {
    const links = [join(folder, 'one'), join(folder, 'two')] as const;
    symlinkSync('app/node_modules/portolan/bin/portolan', links[0]);
    symlinkSync(links[0], links[1]);
    expect(await tell(links[1], ['scan'], { MALLOC_ARENA_MAX: '3' })).toMatchObject({ arenas: '3' });
    const PATH = `${folder}:${home.env['PATH']}`;
    expect((await run('sh', ['-c', 'two'], { env: { ...home.env, PATH } })).code).toBe(0);
  });

  it('passes signals and exit codes on', async () => {
    const program = join(app, 'dist', 'main.js');
    const before = readFileSync(program, 'utf8');
    writeFileSync(
      program,
      "process.on('SIGTERM', () => process.exit(7)); setInterval(() => undefined, 1000); console.log('ready');",
    );
    const ended = await run(started, ['scan'], {
      env: home.env,
      started: (child) => child.stdout?.once('data', () => child.kill('SIGTERM')),
    });
    writeFileSync(program, before);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 7, stdout: 'ready\n' });
  });

  it('does without the Node.js of its package, or says what is missing', async () => {
    rmSync(node);
    const bare = mkdtempSync(join(folder, 'bin-'));
    expect(await run(started, ['--help'], { env: { ...home.env, PATH: bare } })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('needs Node.js 24'),
    });
    writeFileSync(join(bare, 'node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`);
    chmodSync(join(bare, 'node'), 0o755);
    expect(await tell(started, ['scan'], { PATH: bare })).toMatchObject({ words: ['scan'], arenas: '1' });
  });
});
