import type { Data } from '../../api/api-types.ts';

/** What each feature of a license is; all of them in the plural. The API lists the enabled ones alone. */
export const licenseFeatures: Record<Data<'/api/v1/license'>['features'][number], string> = {
  jobs: 'Jobs and schedules',
  metrics: 'Metrics',
  ui: 'These pages',
  multi_tenant: 'Several tenants',
  pdf_reporter: 'Reports as PDF',
  compliance_evaluator: 'Compliance checks',
  plugin_signatures: 'Signed plugins',
};
