import type { Data } from '../../api/api-types.ts';

export type Job = Data<'/api/v1/jobs'>['jobs'][number];

export function jobTitle({ name, params, job_id: jobId }: Pick<Job, 'name' | 'params' | 'job_id'>): string {
  if (name !== null && name !== '') return name;
  const { targets } = params as { targets?: string[] };
  return targets?.slice(0, 3).join(', ') ?? jobId;
}
