import { Type } from 'typebox';
import { type FixPage, listFixes } from '../../../actions/results/list-fixes.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import { publicAddress } from '../../../config/public-url.ts';
import { findingClasses, severities } from '../../../domain/finding.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pinnedFolder } from '../pinned-folder.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { linkHeader, pageMembers, pageQuery } from '../schema/list-page.ts';
import { countSchema, nullableText, scanIdParams, severityCounts } from '../schema/schemas.ts';
import { queryText } from './records.ts';

const score = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0, description });

const fixMembers = Type.Object({
  fixes: Type.Array(
    Type.Object({
      key: Type.String({ description: 'equal for findings that one action removes' }),
      text: Type.String({ description: 'what to do, such as `Update nginx to 1.27.1`' }),
      update: Type.Boolean(),
      reason: Type.String({ description: 'why it has its place' }),
      severity: Type.Enum([...severities]),
      severity_counts: severityCounts,
      exploited: Type.Boolean({ description: 'one of the vulnerabilities is known to be exploited' }),
      epss: score('highest EPSS score'),
      cvss: score('highest CVSS score'),
      class: Type.Enum([...findingClasses], { description: 'most certain class of the worst findings' }),
      findings: countSchema,
      hosts: countSchema,
      host_sample: Type.Array(Type.Object({ host: Type.String(), name: nullableText }), {
        description: 'the first hosts by address',
      }),
    }),
  ),
  ...pageMembers,
});

export function fixRoutes(app: App, { config, indexes }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/fixes',
    config: { access: ['scan:read'], abortable: true, atHome: true, refusals: ['timeout'] },
    schema: {
      summary: 'List what removes the findings of a scan',
      description: 'Findings grouped by the action that removes them, most urgent first, as in a report.',
      params: scanIdParams,
      querystring: Type.Object({ ...pageQuery, q: queryText }),
      response: { 200: enveloped(Type.Unsafe<FixPage>(fixMembers)) },
    },
    handler: async (request, reply) => {
      const scan = await showScan(request.space.store, request.params.scan_id);
      const folder = await pinnedFolder(request, reply, scan);
      const page = await listFixes(scan, folder, request.query, indexes, request.signal);
      const address = publicAddress(config.server, `/api/v1/scans/${scan.scan_id}/fixes`);
      reply.header('link', linkHeader(address, request.query, page));
      return envelope(request, page);
    },
  });
}
