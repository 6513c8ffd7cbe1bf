import { type FieldProblem, invalidRequest, type PortolanError } from '../../domain/errors.ts';

/** Maximum number of problems in an error's message; the error's details list all. */
const maxNamed = 5;

/** What is wrong with a file of a template. */
export interface TemplateProblem {
  /** Within the template's folder. */
  file: string;
  /** From 1; null where a file has no lines. */
  line: number | null;
  reason: string;
}

/** The error for a rejected template: it names its files, never the folder of the workspace. */
export function templateRejection(name: string, problems: readonly TemplateProblem[]): PortolanError {
  const fields: FieldProblem[] = problems.map(({ file, line, reason }) => ({
    field: line === null ? `${name}/${file}` : `${name}/${file}:${line}`,
    reason,
  }));
  const shown = fields.slice(0, maxNamed).map(({ field, reason }) => `${field}: ${reason}`);
  const more = fields.length > maxNamed ? `; ${fields.length - maxNamed} more` : '';
  return invalidRequest(`template rejected: ${shown.join('; ')}${more}`, fields);
}
