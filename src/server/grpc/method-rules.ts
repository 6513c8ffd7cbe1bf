import type { LicenseFeature } from '../../domain/license.ts';
import type { RouteAccess } from '../access/auth.ts';

/** Rules of a method, applied before its message is read; the same as for its REST route. */
export interface MethodRule {
  access: RouteAccess;
  /** Changes data: rejected while the server drains, and audited before the response. */
  changes?: boolean;
  /** May take longer than the usual limit. */
  streams?: boolean;
  /** Responds with an event stream; open ones are limited per client. */
  eventStream?: boolean;
  /** Concerns the whole service: a call needs no tenant. */
  wholeService?: boolean;
  /** Resource kind for the audit log. */
  resource?: string;
  /** Feature that needs a license where licenses are enforced. */
  feature?: LicenseFeature;
}

const scans = { resource: 'scan' };
const readScans: MethodRule = { access: ['scan:read'], ...scans };
const runScans: MethodRule = { access: ['scan:write', 'scan:execute'], changes: true, ...scans };
const jobs = { feature: 'jobs', resource: 'job' } as const;
const readJobs: MethodRule = { access: ['job:read', 'scan:read'], ...jobs };
const writeJobs: MethodRule = { access: ['job:write', 'scan:write'], changes: true, ...jobs };
const readWorkspace: MethodRule = { access: ['workspace:read', 'scan:read'], resource: 'workspace' };
const reflect: MethodRule = { access: 'any', wholeService: true, streams: true };

/** By path. A method without a rule stops the start. */
export const methodRules: Readonly<Record<string, MethodRule>> = {
  '/service.api.v1.ScanService/SubmitScan': runScans,
  '/service.api.v1.ScanService/ListScans': readScans,
  '/service.api.v1.ScanService/GetScan': readScans,
  '/service.api.v1.ScanService/DeleteScan': { access: ['scan:write'], changes: true, ...scans },
  '/service.api.v1.ScanService/CancelScan': runScans,
  '/service.api.v1.ScanService/PauseScan': runScans,
  '/service.api.v1.ScanService/ResumeScan': runScans,
  '/service.api.v1.ScanService/GetResults': { ...readScans, streams: true },
  '/service.api.v1.ScanService/WatchScan': { ...readScans, streams: true, eventStream: true },
  '/service.api.v1.JobService/SubmitJob': writeJobs,
  '/service.api.v1.JobService/ListJobs': readJobs,
  '/service.api.v1.JobService/GetJob': readJobs,
  '/service.api.v1.JobService/CancelJob': writeJobs,
  '/service.api.v1.WorkspaceService/GetInfo': readWorkspace,
  '/service.api.v1.WorkspaceService/RunGc': {
    access: ['workspace:write', 'scan:write'],
    changes: true,
    streams: true,
    resource: 'workspace',
  },
  '/service.api.v1.WorkspaceService/ExportScan': { ...readWorkspace, streams: true, ...scans },
  '/grpc.health.v1.Health/Check': { access: 'open' },
  '/grpc.health.v1.Health/Watch': { access: 'open', streams: true },
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo': reflect,
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo': reflect,
};
