import { defineModule } from '../../engine/module.ts';
import { renderCsv } from '../../workspace/render/csv.ts';
import { reporterOptions, writeReport } from './report-file.ts';

export default defineModule({
  name: 'csv_reporter',
  type: 'reporter',
  version: '1.0.0',
  description: 'Writes one CSV row per reported port (RFC 4180), safe to open in a spreadsheet.',
  options: reporterOptions,
  requires: [],
  provides: [],
  async execute(ctx) {
    await writeReport(ctx, 'results.csv', renderCsv(ctx.results.rows()));
  },
});
