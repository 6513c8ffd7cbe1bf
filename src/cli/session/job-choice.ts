import { PortolanError } from '../../domain/errors.ts';
import type { Client } from './client.ts';
import { jobListShape } from './server-responses.ts';

/** An id of which nothing is missing. */
const wholeId = /^job-[0-9a-f]{8}$/;
/** The beginning of an id, with or without `job-`. */
const beginning = /^(?:job-)?[0-9a-z]{1,16}$/;
const pageSize = 250;
/** Candidates that an error names. */
const maxNamed = 5;

/**
 * The id of a job that was meant by an id or the beginning of one. A whole id is returned as it is, whether there is such
 * a job or not.
 * @throws PortolanError `not_found`, or `conflict` with the candidates for the beginning of several ids
 */
export async function jobOn(client: Client, text: string): Promise<string> {
  if (wholeId.test(text)) return text;
  const start = text.startsWith('job-') ? text : `job-${text}`;
  const found = beginning.test(text) ? await idsWith(client, start) : [];
  const [id] = found;
  if (id === undefined)
    throw new PortolanError('not_found', `no job "${text}"; ids are in: portolan job list`);
  if (found.length === 1) return id;
  const candidates = found.slice(0, maxNamed);
  const more = found.length > maxNamed ? ', ...' : '';
  throw new PortolanError(
    'conflict',
    `${text} is the beginning of several ids: ${candidates.join(', ')}${more}`,
    { candidates },
  );
}

async function idsWith(client: Client, start: string): Promise<string[]> {
  const found: string[] = [];
  const query = new URLSearchParams({ limit: String(pageSize) });
  for (;;) {
    const page = await client.call('GET', `/api/v1/jobs?${query}`, jobListShape);
    const ids = page.jobs.map(({ job_id }) => job_id).filter((id) => id.startsWith(start));
    if (ids.includes(start)) return [start];
    found.push(...ids);
    if (!page.next_cursor || found.length > maxNamed) return found;
    query.set('cursor', page.next_cursor);
  }
}
