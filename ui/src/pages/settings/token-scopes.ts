import type { Data } from '../../api/api-types.ts';

type Scope = Data<'/api/v1/tokens'>['tokens'][number]['scopes'][number];

/** What each scope allows. The API declares the scopes: one that it gains or loses does not compile here. */
const allowed: Record<Scope, string> = {
  'scan:read': 'see scans and results',
  'scan:write': 'plan, change and delete scans',
  'scan:execute': 'start scans',
  'workspace:read': 'export and read the workspace',
  'workspace:write': 'import, clean and repair the workspace',
  'job:read': 'see jobs',
  'job:write': 'create and change jobs',
  'plugin:read': 'see plugins',
  'plugin:write': 'install and remove plugins',
  'plugin:manage': 'the same, and send plugins along with a scan',
  'dag:write': 'change graphs, and send one along with a scan',
  'metrics:read': 'see metrics, workers and alerts',
  'audit:read': 'read the audit log',
  admin: 'everything, also tokens and configuration',
};

/** Scopes with what they allow, the narrow ones first. */
export const tokenScopes: readonly (readonly [string, string])[] = Object.entries(allowed);

export type Role = 'viewer' | 'operator' | 'admin' | 'own';

const viewer = ['scan:read', 'workspace:read', 'job:read', 'plugin:read', 'metrics:read'];

/** What most tokens are for; `own` stands for any other choice of scopes. */
export const roles: readonly { value: Role; label: string; hint: string; scopes: readonly string[] }[] = [
  {
    value: 'viewer',
    label: 'Viewer',
    hint: 'sees scans, jobs and the service, changes nothing',
    scopes: viewer,
  },
  {
    value: 'operator',
    label: 'Operator',
    hint: 'also starts and deletes scans, changes jobs and graphs, cleans the workspace',
    scopes: [...viewer, 'scan:write', 'scan:execute', 'workspace:write', 'job:write', 'dag:write'],
  },
  {
    value: 'admin',
    label: 'Admin',
    hint: 'everything, also tokens, plugins and configuration',
    scopes: ['admin'],
  },
];

/** The role that these scopes are, exactly. */
export function roleOf(scopes: readonly string[]): Role {
  const same = roles.find(
    (role) => role.scopes.length === scopes.length && role.scopes.every((scope) => scopes.includes(scope)),
  );
  return same?.value ?? 'own';
}
