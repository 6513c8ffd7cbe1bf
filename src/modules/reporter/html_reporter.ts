import { defineModule } from '../../engine/module.ts';
import { renderReport } from '../../report/render-report.ts';
import { reportOptions, reportSource, writeReport } from './report-file.ts';

export default defineModule({
  name: 'html_reporter',
  type: 'reporter',
  version: '1.1.0',
  description:
    'Writes one self-contained HTML page without scripts: summary, fixes, findings, hosts, coverage.',
  options: reportOptions,
  requires: [],
  provides: [],
  async execute(ctx) {
    await writeReport(ctx, 'results.html', renderReport('html', await reportSource(ctx, ctx.options)));
  },
});
