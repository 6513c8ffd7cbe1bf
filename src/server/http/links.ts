interface Page {
  total: number;
  limit: number;
  offset: number;
  next_cursor: string | null;
}

/** The `Link` header (RFC 8288) of a list: first, prev, next, last as far as they exist. */
export function linkHeader(path: string, query: Record<string, unknown>, page: Page): string {
  const link = (rel: string, place: Record<string, unknown>) => {
    const kept = Object.entries({
      ...query,
      cursor: undefined,
      offset: undefined,
      limit: page.limit,
      ...place,
    });
    const given = kept
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]);
    return `<${path}?${new URLSearchParams(given as [string, string][])}>; rel="${rel}"`;
  };
  const links = [link('first', { offset: 0 })];
  const byCursor = query['cursor'] !== undefined;
  if (!byCursor && page.offset > 0)
    links.push(link('prev', { offset: Math.max(0, page.offset - page.limit) }));
  if (page.next_cursor !== null) {
    links.push(link('next', byCursor ? { cursor: page.next_cursor } : { offset: page.offset + page.limit }));
  }
  links.push(link('last', { offset: Math.max(0, Math.ceil(page.total / page.limit) - 1) * page.limit }));
  return links.join(', ');
}
