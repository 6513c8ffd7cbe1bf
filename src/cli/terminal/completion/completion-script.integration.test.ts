import { spawnSync } from 'node:child_process';
import { Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { completionScript } from './completion-script.ts';

function sampleProgram(): Command {
  const program = new Command('portolan').option('--config <file>', "file with the user's settings");
  const server = program.command('server').description('run it');
  server
    .command('start')
    .description('start: now')
    .option('--bind <host:port>', 'where')
    .addOption(new Option('--hidden-one', 'not shown').hideHelp());
  server.command('status').addOption(new Option('--format <format>', 'form').choices(['text', 'json']));
  program
    .command('scan')
    .option('-o, --output <file>', 'file')
    .option('-p, --profile <name>', 'profile')
    .addOption(new Option('--format <f>', 'form').choices(['csv']));
  program.command('show').argument('<id>', 'scan id, its beginning or latest');
  program.command('check').argument('<file>', 'file');
  return program;
}

/** Completions of bash for the last word of a line. */
function offered(line: string): string[] {
  const words = line.split(' ');
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const script = `${completionScript(sampleProgram(), 'bash')}
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _portolan; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const run = spawnSync('bash', ['--noprofile', '--norc', '-c', script], { encoding: 'utf8' });
  expect(run.stderr).toBe('');
  return run.stdout.split('\n').filter((word) => word !== '');
}

describe('completionScript for bash', () => {
  it.each([
    ['portolan s', ['server', 'scan', 'show']],
    ['portolan server st', ['start', 'status']],
    ['portolan server start --b', ['--bind']],
    ['portolan --config x server sta', ['start', 'status']],
    ['portolan server status --format ', ['text', 'json']],
    ['portolan scan --format ', ['csv']],
    ['portolan scan --co', ['--config']],
    ['portolan server start --hid', []],
  ])('%s', (line, expected) => {
    expect(offered(line)).toEqual(expected);
  });

  it('asks the program for profiles and scans', () => {
    const run = spawnSync(
      'bash',
      [
        '--noprofile',
        '--norc',
        '-c',
        `portolan() { echo "$4-1"; echo "$4-2"; }
${completionScript(sampleProgram(), 'bash')}
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _portolan; echo "\${COMPREPLY[@]}"; }
ask portolan scan --profile ''; ask portolan scan -p profiles-2; ask portolan show scans-2; ask portolan check package`,
      ],
      { encoding: 'utf8' },
    );
    expect([run.stderr, run.stdout.split('\n')]).toEqual([
      '',
      ['profiles-1 profiles-2', 'profiles-2', 'scans-2', 'package-lock.json package.json', ''],
    ]);
  });

  it('offers files after a flag that takes any text', () => {
    expect(offered('portolan scan -o package.js')).toEqual(['package.json']);
  });
});

describe('completionScript for the other shells', () => {
  it('names every visible command and flag, and no hidden one', () => {
    for (const shell of ['zsh', 'fish', 'powershell'] as const) {
      const script = completionScript(sampleProgram(), shell);
      for (const word of ['server', 'start', 'status', 'bind', 'format', 'csv'])
        expect(script).toContain(word);
      expect(script).not.toContain('hidden-one');
    }
  });

  it('quotes descriptions', () => {
    expect(completionScript(sampleProgram(), 'fish')).toContain("'file with the user'\\''s settings'");
    expect(completionScript(sampleProgram(), 'zsh')).toContain("'start:start\\: now'");
    expect(completionScript(sampleProgram(), 'powershell')).toContain(
      "'--config|file with the user''s settings'",
    );
  });
});
