/** Where the server serves the pages and the API, from the two `meta` elements that it fills in. */
function served(name: string): string {
  const path = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
  return new URL(path, location.origin).pathname.replace(/\/+$/, '');
}

/** Path of the pages without a trailing slash, `/ui`. */
export const uiPath = served('portolan-ui');

/** Path in front of `/api/v1`, empty unless a proxy serves the API under a path of its own. */
export const apiPath = served('portolan-api').replace(/\/api$/, '');
