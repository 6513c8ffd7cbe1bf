import type { ApiError } from '../../api/api-error.ts';
import { Note } from '../../components/layout/note.tsx';
import { ErrorState } from '../../components/states/boundary.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { Link } from '../../url/link.tsx';
import { fieldProblem } from './field-problem.ts';

/** Where each field of a submission is edited. */
const places: Readonly<Record<string, { step: string; label: string }>> = {
  targets: { step: '/scans/new', label: 'Targets' },
  exclude: { step: '/scans/new', label: 'Exclude' },
  name: { step: '/scans/new', label: 'Name' },
  tags: { step: '/scans/new', label: 'Tags' },
  profile: { step: '/scans/new/profile', label: 'Profile' },
  ports: { step: '/scans/new/options', label: 'Ports' },
  rate: { step: '/scans/new/options', label: 'Packets per second' },
  'options.max_duration': { step: '/scans/new/options', label: 'Time limit' },
  notifications: { step: '/scans/new/notifications', label: 'Channels' },
};

/** What no field of a step shows: no permission, no license, no connection. */
export function OtherProblem({ error }: { error: ApiError | null }) {
  if (error === null || error.fields.length > 0) return null;
  if (error.code === 'license_required' || error.code === 'insufficient_scope')
    return <ErrorState error={error} doing="start scans" />;
  return (
    <Note tone="problem" title="The plan could not be checked">
      <TargetText text={error.message} wrap />
    </Note>
  );
}

/** Why this scan is refused, each reason with the way to its field. */
export function Refused({ error }: { error: ApiError }) {
  if (error.fields.length === 0) return <OtherProblem error={error} />;
  const rest = error.fields.filter(({ field }) => placeOf(field) === undefined);
  return (
    <Note tone="problem" title="The server refuses this scan">
      <ul className="pt-1">
        {Object.entries(places).map(([field, { step, label }]) => {
          const reason = fieldProblem(error, field);
          return reason === null ? null : (
            <li key={field} className="py-0.5">
              <Link to={step} className="underline">
                {label}
              </Link>
              : <TargetText text={reason} wrap />
            </li>
          );
        })}
        {rest.map(({ field, reason }) => (
          <li key={`${field} ${reason}`} className="py-0.5">
            <code className="mono">{field}</code>: <TargetText text={reason} wrap />
          </li>
        ))}
      </ul>
    </Note>
  );
}

function placeOf(field: string): string | undefined {
  return Object.keys(places).find(
    (name) => field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`),
  );
}
