import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { type Submission, targetsIn } from './draft.ts';
import type { Plan } from './use-plan.ts';

type ListedScan = Data<'/api/v1/scans'>['scans'][number];

/** Runs that are looked through. */
const read = 20;

/** The newest completed run of the same targets with the same profile: how long this one will probably take. */
export function useLikeRun(plan: Plan, submission: Submission): ListedScan | null {
  const q = submission.name ?? plan.targets[0] ?? '';
  const { data } = useGet(
    '/api/v1/scans',
    { query: { status: 'completed', q, limit: read } },
    { enabled: q !== '' && submission.ports === undefined },
  );
  const wanted = keyOf(plan);
  return data?.scans.find((scan) => keyOf(scan) === wanted) ?? null;
}

function keyOf({ targets, profile, vuln }: Pick<Plan, 'targets' | 'profile' | 'vuln'>): string {
  return JSON.stringify([targetsIn(targets.join(' ')).sort(), profile, vuln]);
}
