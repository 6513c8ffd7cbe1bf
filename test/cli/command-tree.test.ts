import { spawnSync } from 'node:child_process';
import type { Command, Option } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { scanHelp } from '../../src/cli/scan/scan-help.ts';
import { completionScript } from '../../src/cli/terminal/completion/completion-script.ts';
import { programHelp } from '../../src/cli/terminal/help.ts';
import type { CliWiring } from '../../src/cli/wiring.ts';
import { Home } from './command.ts';

const home = new Home();
afterAll(() => home.remove());

/** Only the tree is looked at: nothing is run. */
const unused = () => Promise.reject(new Error('not part of this test'));
const wiring: CliWiring = {
  entryFile: '',
  version: '0.0.0',
  build: () => ({ commit: null, built_at: null }),
  profilesDir: '',
  loadRegistry: unused,
  startServer: unused,
  runWorker: unused,
};
const program = await buildProgram(wiring);

interface Entry {
  path: string[];
  command: Command;
}

function permutation(command: Command, path: string[]): Entry[] {
  return command.commands.flatMap((child) => {
    const below = [...path, child.name()];
    return [{ path: below, command: child }, ...permutation(child, below)];
  });
}

const tree = permutation(program, []).map(({ path, command }) => [path.join(' '), command] as const);
const leaves = tree.filter(([, command]) => command.commands.length === 0 || command.name() === 'scan');

/** With the examples and notes around it. */
function wholeHelp(command: Command, help: string): string {
  let written = '';
  command.configureOutput({ writeOut: (text) => (written += text) }).outputHelp();
  return help + written;
}

function flagsOf(option: Option): string[] {
  return [option.short, option.long].filter((flag) => flag !== undefined);
}

describe('the command tree', () => {
  it('has every command of the product', () => {
    const known = tree.map(([path]) => path);
    for (const path of [
      'scan',
      ...['list', 'show', 'export', 'delete', 'status', 'cancel', 'pause', 'resume', 'watch', 'diff'].map(
        (name) => `scan ${name}`,
      ),
      ...['info', 'list', 'show', 'export', 'delete', 'gc'].map((name) => `workspace ${name}`),
      ...['start', 'stop', 'status', 'restart', 'logs', 'reload'].map((name) => `server ${name}`),
      ...['create', 'list', 'revoke', 'rotate', 'verify'].map((name) => `server token ${name}`),
      ...['validate', 'show', 'list', 'export', 'install', 'remove'].map((name) => `dag ${name}`),
      ...['submit', 'list', 'show', 'run', 'cancel'].map((name) => `job ${name}`),
      ...['list', 'next'].map((name) => `schedule ${name}`),
      ...['list', 'test'].map((name) => `alert ${name}`),
      'module list',
      'module show',
      'profile list',
      'profile show',
      'config init',
      'config validate',
      'config show',
      'notification test',
      'doctor',
      'version',
      'completion',
    ])
      expect(known).toContain(path);
  });

  it.each(tree)('%s: described, every argument and flag too, no flag twice', (_path, command) => {
    expect(command.description()).toMatch(/\S/);
    for (const argument of command.registeredArguments) expect(argument.description).toMatch(/\S/);
    for (const option of command.options) expect(`${option.flags}: ${option.description}`).toMatch(/: \S/);
    const flags = [...command.options, ...program.options].flatMap(flagsOf);
    expect(flags.filter((flag, index) => flags.indexOf(flag) !== index)).toEqual([]);
  });

  it.each(tree)('%s: its help names its own flags, no others', (path, command) => {
    const help = path === 'scan' ? scanHelp(command, false) : command.helpInformation();
    const own = command.options.filter((option) => !option.hidden);
    for (const option of own) expect(help).toContain(option.long);
    for (const line of wholeHelp(command, help).split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    if (path === 'scan') return;
    expect(help).toContain(command.description().split('\n')[0]?.split(' ')[0]);
    const named = help.match(/^ {2}(?:-\w, )?(--[\w-]+)/gm)?.map((line) => line.replace(/^.*--/, '--')) ?? [];
    expect(named.sort()).toEqual([...own.map(({ long }) => long), '--help'].sort());
  });

  it('the help of the program names every command', () => {
    for (const { name } of program.commands.map((command) => ({ name: command.name() })))
      expect(programHelp).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it.each(leaves)('%s: exit code 2 for an unknown flag', async (path, command) => {
    const values = command.registeredArguments.filter(({ required }) => required).map(() => 'bash');
    const needed = command.options
      .filter(({ mandatory }) => mandatory)
      .flatMap(({ long, argChoices }) => [long ?? '', argChoices?.[0] ?? 'x']);
    const args = [...path.split(' '), ...values, ...needed, '--no-such-flag'];
    const { code, stdout, stderr } = await home.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--no-such-flag');
  });
});

describe('completion', () => {
  it('offers every command and flag in bash, also below an alias', () => {
    const lines = tree.flatMap(([path, command]) => {
      const [last = '', before] = [path.split(' ').at(-1), path.split(' ').slice(0, -1).join(' ')];
      const long = command.options.filter(({ hidden }) => !hidden).map((option) => option.long ?? '');
      return [
        { line: `portolan ${before} ${last}`, expected: last },
        ...long.map((flag) => ({ line: `portolan ${path} ${flag}`, expected: flag })),
      ];
    });
    lines.push({ line: 'portolan storage li', expected: 'list' });
    const asked = lines.map(({ line, expected }) => {
      const words = line.split(' ').filter((word) => word !== '');
      return `ask ${words.length - 1} '${expected}' ${words.map((word) => `'${word}'`).join(' ')}`;
    });
    const script = `${completionScript(program, 'bash')}
ask() { COMP_CWORD=$1; expected=$2; shift 2; COMP_WORDS=("$@"); COMPREPLY=(); _portolan
  [[ " \${COMPREPLY[*]} " == *" $expected "* ]] || echo "$* lacks $expected"; }
${asked.join('\n')}`;
    const run = spawnSync('bash', ['--noprofile', '--norc'], { input: script, encoding: 'utf8' });
    expect([run.stdout, run.stderr]).toEqual(['', '']);
    expect(asked.length).toBeGreaterThan(100);
  });

  it.each(['bash', 'zsh', 'fish', 'powershell'] as const)('names every command in %s', (shell) => {
    const script = completionScript(program, shell);
    for (const [path] of tree) for (const word of path.split(' ')) expect(script).toContain(word);
    for (const [, command] of tree) {
      for (const { long, hidden } of command.options) if (!hidden) expect(script).toContain(long?.slice(2));
    }
  });
});
