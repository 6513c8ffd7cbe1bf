import type { ReportTemplate } from '../template/report-template.ts';

const withoutImages = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Content security policy of a page sent over HTTP: the logo of a template is part of the page as a data URI. */
export const reportPolicy = `${withoutImages}; img-src data:`;

/** The policy within the page: no image at all unless its template has one. */
export function pagePolicy(template: ReportTemplate | null): string {
  return template?.logo?.kind === 'png' ? reportPolicy : withoutImages;
}
