import { PortolanError } from '../../domain/errors.ts';
import { printable, printableLines } from './printable.ts';

/** Longest list of single problems that is printed. */
const maxProblems = 20;

/**
 * Wraps the work of a command: its number (or 0) becomes the exit code, an error becomes text on stderr and the exit
 * code of the catalogue.
 */
export function guarded<A extends unknown[]>(
  work: (...args: A) => Promise<number | undefined>,
): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      const code = await work(...args);
      if (code) process.exitCode = code;
    } catch (error) {
      process.exitCode = reportFailure(error);
    }
  };
}

/** Prints an error for the person at the terminal and gives the exit code. */
export function reportFailure(error: unknown): number {
  process.stderr.write(describeFailure(error));
  return error instanceof PortolanError ? error.exitCode : 1;
}

/** `portolan: message`, followed by one line for each field or target that is wrong and not named there already. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof PortolanError)) return `portolan: internal fault: ${faultText(error)}\n`;
  const targets = problemsOf(error.details['targets']);
  // The problems of targets are listed one by one; the field as a whole says nothing more.
  const fields = problemsOf(error.details['fields']).filter(
    ({ field }) => field !== 'targets' || targets.length === 0,
  );
  const problems = [...fields, ...targets]
    .map(({ field, value, reason }) => [field ?? JSON.stringify(value), reason] as const)
    .filter(([subject, reason], _, all) => !saysAlready(error.message, subject, reason, all.length))
    .map(([subject, reason]) => `${subject}: ${reason}`);
  const shown = problems.slice(0, maxProblems).map((line) => `  ${printable(line)}\n`);
  if (problems.length > maxProblems) shown.push(`  ... and ${problems.length - maxProblems} more\n`);
  return `portolan: ${printableLines(error.message)}\n${shown.join('')}`;
}

/** A target is named by its quoted text, in other words than the reason code; a lone problem may be the message. */
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
  return (
    typeof item === 'object' && item !== null && 'reason' in item && ('field' in item || 'value' in item)
  );
}

function faultText(error: unknown): string {
  return printableLines(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/** The command line is wrong (exit 2). */
export function usage(message: string): PortolanError {
  return new PortolanError('usage', message);
}
