import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import type { GraphProblem } from './check-graph.ts';
import type { GraphChecker } from './graph-checker.ts';
import { ownGraphs, requireWorkspace, type WritableLibrary } from './graph-files.ts';
import { checkWritable, deleteOwn, requireOwn, writeOwn } from './own-files.ts';
import { usersOf } from './show-graph.ts';

export interface SavedText {
  name: string;
  text: string;
  /** See `writeOwn`. */
  version: string | null;
}

/**
 * Saves a valid graph in the folder of the client's tenant and puts it in force.
 * @throws PortolanError `invalid_request` with `details.problems`, `conflict`, `insufficient_storage`
 */
export async function saveGraph(
  context: WritableLibrary,
  checker: GraphChecker,
  { name, text, version }: SavedText,
  signal: AbortSignal,
): Promise<void> {
  requireWorkspace(context);
  checkWritable(ownGraphs(context), name);
  const verdict = await checker.check({ text, name, isNamed: true }, context.installed, signal);
  if (!verdict.valid) throw invalidText('graph', verdict.problems);
  await context.change(() => writeOwn(ownGraphs(context), name, text, version));
}

/** @throws PortolanError `not_found`, `conflict` if it cannot be deleted, or if profiles or jobs name it */
export async function deleteGraph(
  context: WritableLibrary,
  name: string,
  version: string | null,
): Promise<void> {
  requireWorkspace(context);
  await context.change(async () => {
    const files = ownGraphs(context);
    requireOwn(files, name);
    const { profiles, jobs } = await usersOf(context, { name, aliases: [] });
    if (profiles.length + jobs.length > 0) throw inUse(`graph ${name}`, { profiles, jobs });
    await deleteOwn(files, name, version);
  });
}

/** `details` names who uses it. */
export function inUse(what: string, users: Record<string, readonly unknown[]>): PortolanError {
  const named = Object.entries(users).filter(([, list]) => list.length > 0);
  const text = named.map(([kind, list]) => `${list.length} ${kind}`).join(' and ');
  return new PortolanError('conflict', `The ${what} is in use by ${text}.`, Object.fromEntries(named));
}

/** Problems in `details.fields` of an error, as text; `details.problems` has all. */
const maxFields = 20;

export function invalidText(what: string, problems: readonly GraphProblem[]): PortolanError {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const fields = errors.slice(0, maxFields).map(({ line, column, node, message }) => {
    const reason = `${line}:${column}: ${node === null ? '' : `node "${node}": `}${message}`;
    return { field: 'text', reason };
  });
  const first = fields[0]?.reason ?? '';
  return invalidRequest(`The ${what} is invalid: ${first}`.slice(0, 500), fields, { problems });
}
