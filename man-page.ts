import { writeFileSync } from 'node:fs';
import type { Command, Option } from 'commander';
import { buildProgram } from './src/cli/program.ts';
import { programHelp } from './src/cli/terminal/help.ts';

/** Writes the manual page `portolan(1)`, from what `--help` says. */
export async function writeManPage(file: string, version: string): Promise<void> {
  const unused = () => Promise.reject(new Error('only described, not run'));
  const program = await buildProgram({
    entryFile: '',
    version,
    build: () => ({ commit: null, built_at: null }),
    profilesDir: '',
    loadRegistry: unused,
    startServer: unused,
    runWorker: unused,
  });
  writeFileSync(file, manPage(program, version));
}

/** In the language of man(7). */
export function manPage(program: Command, version: string): string {
  const commands = leavesOf(program).map(({ path, command }) => describe(path, command));
  return `.TH PORTOLAN 1 "" "portolan ${roff(version)}" "User Commands"
.SH NAME
portolan \\- ${sentence(program.description())}
.SH SYNOPSIS
.B portolan
.I COMMAND
[flags]
.SH DESCRIPTION
.in 0
.nf
${roff(programHelp.split('\n').slice(2).join('\n').trimEnd())}
.fi
.in
.SH COMMANDS
${commands.join('')}.SH FLAGS EVERYWHERE
${program.options.map(flag).join('')}.SH SEE ALSO
.BR nmap (1)
.PP
portolan COMMAND \\-\\-help; portolan help nmap; the folder docs of the package.
`;
}

interface Leaf {
  path: string;
  command: Command;
}

/** `scan` is a command and has commands. */
function leavesOf(command: Command, path = 'portolan'): Leaf[] {
  return command.commands.flatMap((child) => {
    const below = leavesOf(child, `${path} ${child.name()}`);
    const isLeaf = below.length === 0 || child.registeredArguments.length > 0;
    return [...(isLeaf ? [{ path: `${path} ${child.name()}`, command: child }] : []), ...below];
  });
}

function describe(path: string, command: Command): string {
  const places = command.registeredArguments.map((argument) => {
    const name = argument.name().toUpperCase() + (argument.variadic ? '...' : '');
    return argument.required ? name : `[${name}]`;
  });
  const named = command.registeredArguments.map((argument) =>
    item(`\\fI${roff(argument.name().toUpperCase())}\\fR`, argument.description),
  );
  const options = command.createHelp().visibleOptions(command);
  return `.SS ${roff([path, ...places].join(' '))}
${sentence(command.description())}
${named.join('')}${options.map(flag).join('')}`;
}

function flag(option: Option): string {
  const { argChoices, defaultValue } = option;
  const value = typeof defaultValue === 'string' || typeof defaultValue === 'number' ? defaultValue : null;
  const more = [argChoices?.join(', '), value === null ? null : `default: ${value}`].filter(Boolean);
  const text = more.length > 0 ? `${option.description} (${more.join('; ')})` : option.description;
  return item(`\\fB${roff(option.flags)}\\fR`, text);
}

function item(term: string, text: string): string {
  return `.TP\n${term}\n${roff(text)}\n`;
}

function sentence(text: string): string {
  return roff(text.replace(/\.$/, '').replace(/^A /, 'a '));
}

/** Text as it is: no escapes, no requests at the start of a line. */
function roff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/gm, '\\&$&');
}
