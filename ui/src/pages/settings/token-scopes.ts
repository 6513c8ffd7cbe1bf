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
