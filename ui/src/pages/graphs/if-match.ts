import { fetchGet } from '../../api/use-get.ts';

/** No file has this version: a save with it is rejected as a conflict. */
const noVersion = '00000000000000000000000000000000';

/**
 * If-Match of a save: the version of the file on the server if it has the text that the changes are based on. A file
 * that somebody else has changed since is never replaced without asking.
 */
export async function ifMatch(kind: 'dags' | 'profiles', name: string, base: string): Promise<string> {
  const { text, version } =
    kind === 'dags'
      ? await fetchGet('/api/v1/dags/{name}', { path: { name } })
      : await fetchGet('/api/v1/profiles/{name}', { path: { name } });
  return `"${text === base ? version : noVersion}"`;
}
