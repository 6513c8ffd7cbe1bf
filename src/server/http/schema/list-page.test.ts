import { describe, expect, it } from 'vitest';
import { linkHeader } from './list-page.ts';

const page = { total: 100_000, limit: 50, offset: 50, next_cursor: 'next' };
const relations = (text: string) => [...text.matchAll(/rel="(\w+)"/g)].map(([, rel]) => rel);

describe('the Link header of a list', () => {
  it('names the first, previous, next and last page', () => {
    const text = linkHeader('/api/v1/scans', { q: 'a' }, page);
    expect(relations(text)).toEqual(['first', 'prev', 'next', 'last']);
    expect(text).toContain('</api/v1/scans?q=a&offset=99950&limit=50>; rel="last"');
  });

  it('names no last page where the count has stopped', () => {
    const text = linkHeader('/api/v1/scans', {}, { ...page, total_is_minimum: true });
    expect(relations(text)).toEqual(['first', 'prev', 'next']);
  });
});
