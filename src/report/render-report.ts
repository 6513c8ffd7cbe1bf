import type { ReportSource } from './report-source.ts';

/** Formats for people; each draws the same model. */
export const reportFormats = ['html'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** A report as the text or bytes of one file, streamed. Renderers are loaded when they are needed. */
export async function* renderReport(
  format: ReportFormat,
  source: ReportSource,
): AsyncGenerator<string | Uint8Array> {
  switch (format) {
    case 'html': {
      const { renderHtml } = await import('./html/render-html.ts');
      yield* renderHtml(source);
    }
  }
}
