import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compilePlugin } from '../c-plugin.ts';
import { Home } from '../cli/command.ts';
import { InProcessServer } from '../cli/in-process-server.ts';
import { Listeners } from '../cli/listeners.ts';
import { isInstalled } from '../installed.ts';
import { root } from '../program.ts';
import { packed } from './kinds.ts';

const address = '127.86.20.1';
const home = new Home();
const listeners = new Listeners();
let port = 0;
let connections = 0;

const script = (name: string, more = '') => `export const Plugin = {
  name: '${name}', version: '1.0.0', description: 'Notes.', requires: ['open_ports'], provides: ['${name}.seen'], ${more}
  async execute(ctx, data) { for await (const { port } of data.stream('open_ports')) await data.append('${name}.seen', port); },
};`;

const rule = (condition: string) => `id: bomb
name: Bomb
version: 1.0.0
type: evaluation
match:
  logic: OR
  rules: [${condition}]
output: { message: m, severity: low }
`;

const write = (name: string, content: string | Buffer) => {
  writeFileSync(home.file(name), content);
  return home.file(name);
};

async function packageOf(name: string, more: string): Promise<string> {
  const manifest = `name: ${name}\nversion: 1.0.0\nkind: script\nentry: main.mjs\n${more}`;
  return write(
    `${name}.tar.gz`,
    await packed({ 'plugin.yaml': manifest, 'main.mjs': script(name.replace('-', '_')) }),
  );
}

function native(name: string, flags: string[]): string {
  return compilePlugin(home.path, join(root, 'src/plugins/host/native/fixtures/trial.c'), name, flags);
}

function ofOtherMachine(file: string): string {
  const bytes = readFileSync(file);
  // e_machine: AArch64, or x86-64 there.
  bytes.writeUInt16LE(process.arch === 'arm64' ? 62 : 183, 18);
  return write('other-machine.so', bytes);
}

/** Files and what is said of each. */
async function rejectedFiles(): Promise<[file: string, problem: RegExp][]> {
  const whole = readFileSync(await packageOf('cut-off', ''));
  const files: [string, RegExp][] = [
    [write('no-plugin.mjs', 'export const other = 1;\n'), /no-plugin\.mjs does not export Plugin/],
    [
      write('syntax.ts', 'const a = 1;\nexport const Plugin = {,};\n'),
      /cannot load syntax\.ts:2: SyntaxError/,
    ],
    [
      write('schema.mjs', script('schema', 'configSchema: { depth: { Type: "list" } },')),
      /options\.depth\.Type must be/,
    ],
    [write('shadow.mjs', script('http_parser')), /its module "http_parser" has the name of a builtin one/],
    [write('http_parser.mjs', script('fresh')), /"http_parser" is the name of a builtin module/],
    [write('twin.mjs', script('taken')), /its module "taken" .* is also that of taken /],
    [await packageOf('cycle-one', 'requires: [cycle-two]\n'), /cycle-one -> cycle-two -> cycle-one/],
    [await packageOf('cycle-two', 'requires: [cycle-one]\n'), /cycle-one -> cycle-two -> cycle-one/],
    [
      write('cut-off.tar.gz', whole.subarray(0, whole.length / 2)),
      /not a \.tar\.gz or \.zip archive, or damaged/,
    ],
    [write('laughs.yaml', 'a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n'), /2: aliases are not supported/],
    [
      write('pattern.yaml', rule(`{ field: banner, operator: matches, value: '((a{50}){50}){50}' }`)),
      /7: match\.rules\[0\]\.value/,
    ],
    [write('probe.exe', 'MZ'), /its name must end in one of/],
  ];
  if (!isInstalled('gcc')) return files;
  const schema = '"{\\"depth\\":{\\"Type\\":\\"list\\"}}"';
  return [
    ...files,
    [native('other-abi', ['-DABI=2', '-DNAME="other_abi"']), /ABI version 2: only version 1/],
    [native('no-symbol', ['-DSYMBOL=Other']), /does not export the symbol Plugin/],
    [native('bad-schema', [`-DSCHEMA=${schema}`, '-DNAME="bad_schema"']), /options\.depth\.Type must be/],
    [ofOtherMachine(native('right', [])), /built for another architecture: /],
  ];
}

describe('plugins that cannot be loaded', () => {
  let rejected: [file: string, problem: RegExp][];
  let good: string;

  beforeAll(async () => {
    port = await listeners.serve((socket) => {
      connections += 1;
      socket.end('hello\r\n');
    }, address);
    mkdirSync(home.file('temporary'));
    good = write('taken.mjs', script('taken'));
    rejected = await rejectedFiles();
  });
  afterAll(() => {
    listeners.close();
    home.remove();
  });

  const flags = (files: typeof rejected) =>
    [good, ...files.map(([file]) => file)].flatMap((file) => ['--plugin', file]);

  function expectProblems(stderr: string, files: typeof rejected): void {
    const said = stderr.split('--plugin ');
    const wrong = files.filter(
      ([file, problem]) => !said.some((part) => part.startsWith(`${file}: `) && problem.test(part)),
    );
    expect(wrong, stderr).toEqual([]);
    expect(stderr).not.toContain(`--plugin ${good}: `);
    expect(stderr).not.toMatch(/\n {4}at /);
  }

  it('end a scan before anything is sent, each with its reason', async () => {
    const env = { TMPDIR: home.file('temporary') };
    const ended = await home.run(
      ['scan', address, '--ports', String(port), '--no-discover', ...flags(rejected)],
      {
        env,
      },
    );
    expect([ended.code, ended.stdout, connections]).toEqual([3, '', 0]);
    expectProblems(ended.stderr, rejected);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });

  it('keep a server from starting, each with its reason', async () => {
    const workspace = ['--workspace-dir', home.file('workspace'), '--bind', '127.0.0.1:0'];
    // It loads them as a scan does: one of each kind of file, and one that another one stands in the way of.
    const some = rejected.filter(([file]) => /\/(?:no-plugin|twin|cut-off|laughs|other-abi)\./.test(file));
    expect(some.length).toBeGreaterThan(3);
    const ended = await home.run(['server', 'start', ...workspace, ...flags(some)]);
    expect([ended.code, ended.stdout]).toEqual([3, '']);
    expectProblems(ended.stderr, some);
  });

  it('are refused by a reload of a server, which goes on with what it has', async () => {
    const file = write('replaced.mjs', script('replaced'));
    const server = new InProcessServer({ plugins: [file], env: home.env });
    try {
      await server.start();
      const seen = async () => {
        const order = { targets: [address], ports: [port], dag: 'port-scan', options: { discover: false } };
        const scanId = await server.submit(order);
        const { status, stages } = await server.waitForEnd(scanId);
        const { body } = await server.request(`/api/v1/scans/${scanId}/results`);
        const { extra } = (body as { data: { extra: Record<string, { value: number }[]> } }).data;
        const failed = stages.filter((stage) => stage.status === 'failed');
        expect([status, JSON.stringify(failed)]).toEqual(['completed', '[]']);
        return extra['replaced.seen']?.map(({ value }) => value);
      };
      expect(await seen()).toEqual([port]);
      writeFileSync(file, 'export const Plugin = {,};\n');
      await server.reload();
      await expect.poll(() => server.log).toMatch(/cannot load replaced\.mjs:1: SyntaxError/);
      expect(await seen()).toEqual([port]);
    } finally {
      await server.dispose();
    }
  });
});
