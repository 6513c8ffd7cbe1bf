import { PortolanError } from '../../domain/errors.ts';
import { loadProfile } from '../../engine/graph/profile-file.ts';
import { inUse, invalidText, type SavedText } from './change-graph.ts';
import type { GraphProblem } from './check-graph.ts';
import { ownProfiles, requireWorkspace, type WritableLibrary } from './graph-files.ts';
import { checkWritable, deleteOwn, requireOwn, writeOwn } from './own-files.ts';
import { jobsNaming } from './show-profile.ts';

/**
 * Saves a valid profile in the folder of the client's tenant and puts it in force.
 * @throws PortolanError `invalid_request` with `details.problems`, `conflict`, `insufficient_storage`
 */
export async function saveProfile(
  context: WritableLibrary,
  { name, text, version }: SavedText,
): Promise<void> {
  requireWorkspace(context);
  checkWritable(ownProfiles(context), name);
  await context.change(async () => {
    const problems = problemsOf(context, name, text);
    if (problems.length > 0) throw invalidText('profile', problems);
    await writeOwn(ownProfiles(context), name, text, version);
  });
}

function problemsOf({ installed }: WritableLibrary, name: string, text: string): GraphProblem[] {
  const { library, registry } = installed;
  const dags = library.list().flatMap((entry) => [entry.name, ...entry.aliases]);
  const { profile, issues } = loadProfile(text, name, registry, dags);
  const named = profile.name === name || issues.length > 0;
  const message = `the profile is named "${profile.name}", but is saved as "${name}"`;
  const found = named ? issues : [{ field: 'name', message, line: 1, column: 1 }];
  return found.slice(0, 200).map((issue) => ({
    severity: 'error',
    type: 'profile',
    line: issue.line,
    column: issue.column,
    node: null,
    field: issue.field.slice(0, 100),
    message: issue.message.slice(0, 1000),
  }));
}

/** @throws PortolanError `not_found`, `conflict` if it cannot be deleted, or if jobs name it */
export async function deleteProfile(
  context: WritableLibrary,
  name: string,
  version: string | null,
): Promise<void> {
  requireWorkspace(context);
  await context.change(async () => {
    const files = ownProfiles(context);
    requireOwn(files, name);
    const jobs = await jobsNaming(context, { name, aliases: [] });
    if (jobs.length > 0) throw inUse(`profile ${name}`, { jobs });
    if (context.config.scanner.default_profile === name) {
      throw new PortolanError('conflict', `The profile ${name} is scanner.default_profile of the server.`);
    }
    await deleteOwn(files, name, version);
  });
}
