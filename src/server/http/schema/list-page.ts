import { Type } from 'typebox';
import { defaultLimit, type ListPage, maxLimit } from '../../../actions/paging/list-page.ts';
import { countSchema, nullableText } from './schemas.ts';

/** Query parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: defaultLimit,
      description: `1 to ${maxLimit}; higher values count as ${maxLimit}`,
    }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 2048,
      description: 'next_cursor of the previous page; cannot be combined with offset',
    }),
  ),
};

/** Query parameters of lists by time of creation. */
export const sinceQuery = Type.Optional(
  Type.String({ description: 'RFC 3339 time or date; only items created since' }),
);

/** Members of every list in addition to its items. */
export const pageMembers = {
  total: countSchema,
  limit: countSchema,
  offset: countSchema,
  next_cursor: nullableText,
};

/** Of lists that stop counting. */
export const totalIsMinimum = Type.Boolean({
  description: 'there are more items than `total`: the count has stopped',
});

/**
 * The `Link` header (RFC 8288) of a list: first, prev, next and last, if they exist and are known.
 * @param address of the list: its path, or a URL
 */
export function linkHeader(address: string, query: Record<string, unknown>, page: ListPage): string {
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
    return `<${address}?${new URLSearchParams(given as [string, string][])}>; rel="${rel}"`;
  };
  const links = [link('first', { offset: 0 })];
  const byCursor = query['cursor'] !== undefined;
  if (!byCursor && page.offset > 0)
    links.push(link('prev', { offset: Math.max(0, page.offset - page.limit) }));
  if (page.next_cursor !== null) {
    links.push(link('next', byCursor ? { cursor: page.next_cursor } : { offset: page.offset + page.limit }));
  }
  if (!page.total_is_minimum)
    links.push(link('last', { offset: Math.max(0, Math.ceil(page.total / page.limit) - 1) * page.limit }));
  return links.join(', ');
}
