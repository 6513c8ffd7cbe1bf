import { defineModule } from '../../engine/module.ts';
import { renderHtml } from '../../workspace/render/html/html.ts';
import { reporterOptions, reportHead, writeReport } from './report-file.ts';

export default defineModule({
  name: 'html_reporter',
  type: 'reporter',
  version: '1.0.0',
  description: 'Writes one self-contained HTML page without scripts: summary, findings, hosts, ports.',
  options: {
    ...reporterOptions,
    title: { Type: 'string', Description: 'Title of the page; empty = the ID of the scan.', Default: '' },
  },
  requires: [],
  provides: [],
  async execute(ctx) {
    const { evaluated, failure } = ctx.results;
    const head = { ...(await reportHead(ctx)), title: ctx.options.title, evaluated, failure: failure() };
    await writeReport(
      ctx,
      'results.html',
      renderHtml(head, () => ctx.results.rows()),
    );
  },
});
