import { Command } from 'commander';
import { PortolanError } from '../../domain/errors.ts';
import { printable, printableJson, printableLines } from './draw/printable.ts';
import { problemFrom, problemLines, type SourceProblem } from './source-lines.ts';

/** Maximum number of problems to print. */
const maxProblems = 20;

/** Of a command; 0 for one without a result. */
export type ExitCode = Promise<number | void>;

/** Exit codes of the commands that ran, by their program: commander drops what an action returns. */
const exitCodes = new WeakMap<Command, number>();

/** The exit code of the command that a program ran. */
export function programExitCode(program: Command): number {
  return exitCodes.get(program) ?? 0;
}

/**
 * Wraps the action of a command: its result (or 0) becomes the exit code, an error becomes text on stderr (JSON with
 * `--format json`) and the exit code of the error catalog.
 */
export function guarded<A extends unknown[]>(work: (...args: A) => ExitCode): (...args: A) => Promise<void> {
  return async (...args) => {
    const command = args.at(-1);
    const exitCode = await work(...args).then(
      (code) => code || 0,
      (error: unknown) => reportFailure(namingScan(error, args), asksForJson(command)),
    );
    if (command instanceof Command) exitCodes.set(rootOf(command), exitCode);
  };
}

/** The program that a command belongs to. */
export function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

/** The API does not repeat the id that it does not know. */
function namingScan(error: unknown, args: readonly unknown[]): unknown {
  if (!(error instanceof PortolanError) || error.message !== 'There is no such scan.') return error;
  // It may be the other one.
  if ((args.at(-2) as { against?: string } | undefined)?.against !== undefined) return error;
  const ids = args.flat().filter((arg) => typeof arg === 'string' && scanId.test(arg));
  if (ids.length !== 1) return error;
  return new PortolanError(error.code, `no scan "${ids[0]}"`, {
    ...error.details,
    try: 'portolan workspace list',
  });
}

const scanId = /^\d{8}-\d{6}-[a-z0-9]{4,12}$/;

/** @param command the last argument of an action of commander */
function asksForJson(command: unknown): boolean {
  return command instanceof Command && command.optsWithGlobals()['format'] === 'json';
}

/** Prints an error for the user and returns the exit code. */
export function reportFailure(error: unknown, asJson = false): number {
  process.stderr.write(asJson ? failureJson(error) : describeFailure(error));
  return error instanceof PortolanError ? error.exitCode : 1;
}

/** The error as the API sends it. */
export function failureJson(error: unknown): string {
  if (!(error instanceof PortolanError))
    return printableJson({ error: { code: 'internal_error', message: faultText(error), details: {} } });
  const { code, message, details } = error;
  return printableJson({ error: { code, message, details } });
}

/** `portolan: message`, followed by one line per invalid field or target that the message does not name. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof PortolanError)) return `portolan: internal error: ${faultText(error)}\n`;
  const inFiles = error.code === 'configuration' ? sourceProblems(error.details) : null;
  if (inFiles !== null) return problemLines(inFiles);
  const targets = problemsOf(error.details['targets']);
  // Problems of targets are listed one by one; the entry for the whole field adds nothing.
  const fields = problemsOf(error.details['fields']).filter(
    ({ field }) => withoutParams(field) !== 'targets' || targets.length === 0,
  );
  const problems = [...fields, ...targets]
    .map(({ field, value, reason }) => [withoutParams(field) ?? JSON.stringify(value), reason] as const)
    .filter(([subject, reason], _, all) => !saysAlready(error.message, subject, reason, all.length))
    .map(([subject, reason]) => `${subject}: ${reason}`);
  const distinct = [...new Set(problems)];
  const shown = distinct.slice(0, maxProblems).map((line) => `  ${printable(line)}\n`);
  if (distinct.length > maxProblems) shown.push(`  ... and ${distinct.length - maxProblems} more\n`);
  const { try: hint } = error.details;
  if (typeof hint === 'string') shown.push(`  try: ${printable(hint)}\n`);
  return `portolan: ${printableLines(error.message)}\n${shown.join('')}`;
}

/** Fields of a job are those of its scans. */
function withoutParams(field: string | undefined): string | undefined {
  return field?.replace(/^params\./, '');
}

/** The problems of configuration files; null if one has another source, or is none of a file. */
function sourceProblems({ problems, warnings = [] }: Record<string, unknown>): SourceProblem[] | null {
  const read = [
    ...textsOf(problems).map((text) => problemFrom(text, 'error')),
    ...textsOf(warnings).map((text) => problemFrom(text, 'warning')),
  ];
  const found = read.filter((problem) => problem !== null);
  return found.length === read.length && textsOf(problems).length > 0 ? found : null;
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

/** Messages name a target by its quoted text instead of the reason code; a single problem may be the message. */
function saysAlready(message: string, subject: string, reason: string, problems: number): boolean {
  if ([': ', ' '].some((gap) => message.includes(subject + gap + reason))) return true;
  return (
    (subject.startsWith('"') && message.includes(`${subject}: `)) || (problems === 1 && message === reason)
  );
}

/** Fields are `{field, reason}`, targets `{index, value, reason}`. */
function problemsOf(list: unknown): Problem[] {
  return Array.isArray(list) ? list.filter(isProblem) : [];
}

interface Problem {
  field?: string;
  value?: string;
  reason: string;
}

function isProblem(item: unknown): item is Problem {
  if (typeof item !== 'object' || item === null) return false;
  const { field, value, reason } = item as Record<string, unknown>;
  const isText = (part: unknown) => part === undefined || typeof part === 'string';
  return typeof reason === 'string' && isText(field) && isText(value) && (field ?? value) !== undefined;
}

function faultText(error: unknown): string {
  return printableLines(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/**
 * A usage error (exit 2).
 * @param hint what to type instead, printed as `try: ...`
 */
export function usage(message: string, hint?: string): PortolanError {
  return new PortolanError('usage', message, hint === undefined ? {} : { try: hint });
}
