import type { FieldProblem } from '../../api/api-error.ts';

/** Reasons that are shown at one field; further ones are counted. */
const maxReasons = 5;

/**
 * The server's reasons at a field, also those at members of its list (`exclude[2]`). Of targets the refused ones are
 * named, which the error has in its details.
 * @returns null when it has none
 */
export function fieldProblem(
  { fields, details }: { fields: readonly FieldProblem[]; details: Readonly<Record<string, unknown>> },
  field: string,
): string | null {
  const own = fields.filter((each) => isAt(each.field, field)).map(({ reason }) => reason);
  const refused = field === 'targets' ? refusedTargets(details) : [];
  const reasons = refused.length > 0 ? refused : own;
  if (reasons.length === 0) return null;
  const more = reasons.length - maxReasons;
  return `${reasons.slice(0, maxReasons).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

function isAt(name: string, field: string): boolean {
  return name === field || name.startsWith(`${field}[`) || name.startsWith(`${field}.`);
}

function refusedTargets(details: Readonly<Record<string, unknown>>): string[] {
  const list = details['targets'];
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown) => {
    if (typeof each !== 'object' || each === null || !('reason' in each) || !('value' in each)) return [];
    const hint = 'hint' in each ? `: ${each.hint}` : '';
    return [`${each.value} ${words(String(each.reason))}${hint}`];
  });
}

/** Most reasons say what a text is: "not an IP address". `out_of_scope` is a code. */
function words(reason: string): string {
  if (reason === 'out_of_scope') return 'is out of scope';
  return reason.startsWith('is ') || reason.endsWith('cannot be scanned') ? reason : `is ${reason}`;
}
