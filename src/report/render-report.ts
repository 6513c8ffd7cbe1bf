import type { ReportSource } from './report-source.ts';

/** Formats for people; each draws the same model. */
export const reportFormats = ['html', 'pdf', 'markdown'] as const;
export type ReportFormat = (typeof reportFormats)[number];

export function isReportFormat(format: string): format is ReportFormat {
  return reportFormats.some((name) => name === format);
}

/**
 * A report as the text or bytes of one file, streamed. Renderers are loaded when they are needed.
 * @param fix of markdown: number of one fix, for a ticket about it alone; null = all
 */
export async function* renderReport(
  format: ReportFormat,
  source: ReportSource,
  fix: number | null = null,
): AsyncGenerator<string | Uint8Array> {
  switch (format) {
    case 'html': {
      const { renderHtml } = await import('./html/render-html.ts');
      return yield* renderHtml(source);
    }
    case 'pdf': {
      const { renderPdf } = await import('./pdf/render-pdf.ts');
      return yield* renderPdf(source);
    }
    case 'markdown': {
      const { renderMarkdown } = await import('./markdown/render-markdown.ts');
      return yield* renderMarkdown(source, fix ?? undefined);
    }
  }
}
