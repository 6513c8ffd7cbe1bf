import type { PortRow } from '../result.ts';

/**
 * The further sites of a port, each by its name with title, redirect or status of its page and the subject of its
 * certificate: `v2.example "Shop", certificate CN=v2.example`.
 */
export function siteTexts({ attributes }: Pick<PortRow, 'attributes'>): string[] {
  const sites = attributes?.['sites'];
  if (!Array.isArray(sites)) return [];
  return sites.flatMap((site: unknown) => {
    const { name, http, tls } = objectOf(site);
    if (typeof name !== 'string') return [];
    const subject = textOf(objectOf(objectOf(tls)['certificate'])['subject']);
    const reason = textOf(objectOf(tls)['error']);
    const facts = [pageText(objectOf(http)), subject && `certificate ${subject}`, reason].filter(Boolean);
    return [`${name} ${facts.length === 0 ? 'without a response' : facts.join(', ')}`];
  });
}

/** Empty without a page. */
function pageText({ status, reason, title, location }: Record<string, unknown>): string {
  if (typeof status !== 'number') return '';
  if (status >= 300 && status < 400 && textOf(location)) return `to ${textOf(location)}`;
  const answer = `${status} ${textOf(reason)}`.trim();
  const named = textOf(title);
  if (named === '') return answer;
  return status === 200 ? `"${named}"` : `"${named}", ${answer}`;
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
