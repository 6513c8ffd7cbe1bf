import { apiPath } from '../url/paths.ts';
import { errorOfResponse, unreachable } from './api-error.ts';
import { accessHeaders } from './credentials.ts';

/**
 * Saves a file of the API: a link could not carry the token.
 * @param path with its search
 * @returns its name
 * @throws ApiError
 */
export async function download(path: string): Promise<string> {
  const response = await fetch(apiPath + path, { headers: accessHeaders(), cache: 'no-store' }).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw errorOfResponse(response, await response.json().catch(() => null));
  const blob = await response.blob();
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  const name = nameIn(response.headers.get('content-disposition')) ?? 'portolan-export';
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return name;
}

/** Text of a file of the API. @throws ApiError */
export async function downloadText(path: string, signal?: AbortSignal): Promise<string> {
  const response = await fetch(apiPath + path, { headers: accessHeaders(), cache: 'no-store', signal }).catch(
    (error: unknown) => {
      if (signal?.aborted) throw error;
      throw unreachable();
    },
  );
  if (!response.ok) throw errorOfResponse(response, await response.json().catch(() => null));
  return await response.text();
}

function nameIn(disposition: string | null): string | null {
  return /filename="([^"]+)"/.exec(disposition ?? '')?.[1] ?? null;
}
