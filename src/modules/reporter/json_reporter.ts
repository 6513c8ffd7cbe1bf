import { defineModule } from '../../engine/module.ts';
import { renderJson } from '../../workspace/render/json.ts';
import { reporterOptions, reportHead, writeReport } from './report-file.ts';

export default defineModule({
  name: 'json_reporter',
  type: 'reporter',
  version: '1.0.0',
  description: 'Writes all results of the scan as one JSON document, hosts in address order.',
  options: {
    ...reporterOptions,
    pretty: { Type: 'bool', Description: 'Indent the document.', Default: false },
  },
  requires: [],
  provides: [],
  async execute(ctx) {
    const head = await reportHead(ctx);
    await writeReport(ctx, 'results.json', renderJson(head, ctx.results.rows(), ctx.options.pretty));
  },
});
