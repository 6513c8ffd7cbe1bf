/** Groups of operations in the OpenAPI description, in display order. */
export const operationGroups = {
  scans: 'Submit and follow scans, and download their results.',
  jobs: 'One-off and recurring scans.',
  workspace: 'Stored scans, export and retention.',
  installation: 'Version, license, modules, profiles, graphs, tokens and configuration.',
  health: 'Probes, monitoring and the audit log.',
} as const;

interface OperationName {
  /** Method name in generated clients. */
  operationId: string;
  group: keyof typeof operationGroups;
}

/** By method and path of the route. Other operations get no name. */
const names: Record<string, readonly [operationId: string, group: keyof typeof operationGroups]> = {
  'POST /api/v1/scans': ['submitScan', 'scans'],
  'GET /api/v1/scans': ['listScans', 'scans'],
  'POST /api/v1/scans/plan': ['planScan', 'scans'],
  'GET /api/v1/dashboard': ['getDashboard', 'scans'],
  'GET /api/v1/scans/:scan_id': ['getScan', 'scans'],
  'GET /api/v1/scans/:scan_id/request': ['getScanRequest', 'scans'],
  'DELETE /api/v1/scans/:scan_id': ['deleteScan', 'scans'],
  'POST /api/v1/scans/:scan_id/cancel': ['cancelScan', 'scans'],
  'POST /api/v1/scans/:scan_id/pause': ['pauseScan', 'scans'],
  'POST /api/v1/scans/:scan_id/resume': ['resumeScan', 'scans'],
  'GET /api/v1/scans/:scan_id/events': ['followScan', 'scans'],
  'GET /api/v1/scans/:scan_id/records': ['listRecords', 'scans'],
  'GET /api/v1/scans/:scan_id/facets': ['listFacets', 'scans'],
  'GET /api/v1/scans/:scan_id/fixes': ['listFixes', 'scans'],
  'GET /api/v1/scans/:scan_id/explain': ['explainHost', 'scans'],
  'GET /api/v1/scans/:scan_id/baseline': ['getBaseline', 'scans'],
  'GET /api/v1/scans/:scan_id/coverage': ['getCoverage', 'scans'],
  'GET /api/v1/scans/:scan_id/results': ['downloadResults', 'scans'],
  'GET /api/v1/scans/:scan_id/diff': ['compareScans', 'scans'],
  'POST /api/v1/jobs': ['submitJob', 'jobs'],
  'GET /api/v1/jobs': ['listJobs', 'jobs'],
  'GET /api/v1/jobs/:job_id': ['getJob', 'jobs'],
  'PUT /api/v1/jobs/:job_id': ['changeJob', 'jobs'],
  'POST /api/v1/jobs/:job_id/run': ['runJobNow', 'jobs'],
  'POST /api/v1/jobs/:job_id/cancel': ['cancelJob', 'jobs'],
  'POST /api/v1/schedules/preview': ['previewSchedule', 'jobs'],
  'GET /api/v1/workspace/info': ['getWorkspaceInfo', 'workspace'],
  'POST /api/v1/workspace/gc': ['collectGarbage', 'workspace'],
  'GET /api/v1/workspace/scans/:scan_id/export': ['exportScan', 'workspace'],
  'GET /api/v1/version': ['getVersion', 'installation'],
  'GET /api/v1/license': ['getLicense', 'installation'],
  'POST /api/v1/session': ['checkToken', 'installation'],
  'GET /api/v1/openapi.json': ['getApiDescription', 'installation'],
  'GET /api/v1/modules': ['listModules', 'installation'],
  'GET /api/v1/profiles': ['listProfiles', 'installation'],
  'GET /api/v1/profiles/:name': ['getProfile', 'installation'],
  'PUT /api/v1/profiles/:name': ['saveProfile', 'installation'],
  'DELETE /api/v1/profiles/:name': ['deleteProfile', 'installation'],
  'GET /api/v1/dags': ['listGraphs', 'installation'],
  'GET /api/v1/dags/:name': ['getGraph', 'installation'],
  'PUT /api/v1/dags/:name': ['saveGraph', 'installation'],
  'DELETE /api/v1/dags/:name': ['deleteGraph', 'installation'],
  'POST /api/v1/dags/validate': ['validateGraph', 'installation'],
  'GET /api/v1/plugins': ['listPlugins', 'installation'],
  'POST /api/v1/plugins': ['installPlugin', 'installation'],
  'PUT /api/v1/plugins/:name': ['switchPlugin', 'installation'],
  'POST /api/v1/plugins/:name/rollback': ['rollBackPlugin', 'installation'],
  'DELETE /api/v1/plugins/:name': ['removePlugin', 'installation'],
  'GET /api/v1/tokens': ['listTokens', 'installation'],
  'POST /api/v1/tokens': ['createToken', 'installation'],
  'DELETE /api/v1/tokens/:token_id': ['revokeToken', 'installation'],
  'GET /api/v1/config': ['getConfiguration', 'installation'],
  'GET /api/v1/vulndb': ['getVulnerabilityData', 'installation'],
  'POST /api/v1/vulndb/sync': ['syncVulnerabilityData', 'installation'],
  'GET /api/v1/audit': ['listAuditRecords', 'health'],
  'GET /api/v1/workers': ['listWorkers', 'health'],
  'GET /api/v1/alerts': ['listAlerts', 'health'],
  'GET /api/v1/notifications/channels': ['listNotificationChannels', 'health'],
  'POST /api/v1/notifications/test': ['testNotificationChannel', 'health'],
  'GET /api/v1/events': ['followService', 'health'],
  'GET /api/v1/health': ['getHealth', 'health'],
  'GET /health': ['isAlive', 'health'],
  'GET /livez': ['isLive', 'health'],
  'GET /healthz': ['isHealthy', 'health'],
  'GET /readyz': ['isReady', 'health'],
  'GET /metrics': ['getMetrics', 'health'],
};

/** @param path as registered, e.g. `/api/v1/scans/:scan_id` */
export function nameOfOperation(method: string, path: string): OperationName | null {
  const [operationId, group] = names[`${method} ${path}`] ?? [];
  return operationId === undefined || group === undefined ? null : { operationId, group };
}
