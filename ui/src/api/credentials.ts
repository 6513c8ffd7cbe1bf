/** What requests are sent with. */
export interface Credentials {
  token: string | null;
  tenant: string | null;
}

let current: Credentials = { token: null, tenant: null };

export function setCredentials(next: Credentials): void {
  current = next;
}

export function credentials(): Credentials {
  return current;
}

/** Headers of every request; the token is never part of a URL. */
export function accessHeaders({ token, tenant }: Credentials = current): Record<string, string> {
  return {
    'x-portolan-client': 'ui',
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(tenant !== null && { 'x-tenant-id': tenant }),
  };
}
