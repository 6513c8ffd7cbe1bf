import { defineModule } from '../../engine/module.ts';
import { renderJsonl } from '../../workspace/render/jsonl.ts';
import { reporterOptions, writeReport } from './report-file.ts';

export default defineModule({
  name: 'jsonl_reporter',
  type: 'reporter',
  version: '1.0.0',
  description: 'Writes all results of the scan as JSON Lines, one object per line, the summary last.',
  options: reporterOptions,
  requires: [],
  provides: [],
  async execute(ctx) {
    const summary = await ctx.results.summary();
    await writeReport(ctx, 'results.jsonl', renderJsonl(ctx.results.rows(), summary));
  },
});
