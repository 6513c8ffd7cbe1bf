import { defineModule } from '../../engine/module.ts';
import { renderReport } from '../../report/render-report.ts';
import { reportOptions, reportSource, writeReport } from './report-file.ts';

export default defineModule({
  name: 'pdf_reporter',
  type: 'reporter',
  version: '1.0.0',
  description: 'Writes a PDF for people: summary, fixes, findings with evidence, hosts, coverage.',
  options: {
    ...reportOptions,
    paper: { Type: 'string', Description: 'Size of the pages.', Default: 'A4', Enum: ['A4', 'letter'] },
  },
  requires: [],
  provides: [],
  async execute(ctx) {
    const { title, template } = ctx.options;
    const paper = ctx.options.paper === 'letter' ? 'letter' : 'a4';
    const source = await reportSource(ctx, { title, template, paper });
    await writeReport(ctx, 'results.pdf', renderReport('pdf', source));
  },
});
