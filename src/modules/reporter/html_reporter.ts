import { defineModule } from '../../engine/module.ts';
import { renderReport } from '../../report/render-report.ts';
import { reporterOptions, reportSource, titleOption, writeReport } from './report-file.ts';

export default defineModule({
  name: 'html_reporter',
  type: 'reporter',
  version: '1.0.0',
  description: 'Writes one self-contained HTML page without scripts: summary, findings, hosts, ports.',
  options: { ...reporterOptions, ...titleOption },
  requires: [],
  provides: [],
  async execute(ctx) {
    const source = await reportSource(ctx, { title: ctx.options.title });
    await writeReport(ctx, 'results.html', renderReport('html', source));
  },
});
