import { expect, it } from 'vitest';
import { parseSearch, searchText } from './search-text.ts';

it('writes and reads the texts of a search unchanged', () => {
  const search = { q: 'port:443 product:"Apache httpd" severity:>=high', sort: '-severity' };
  expect(parseSearch(searchText(search))).toEqual(search);
});

it('leaves out what is not set', () => {
  expect(searchText({ q: '', sort: undefined, tab: null })).toBe('');
});

it('reads numbers and words as texts', () => {
  expect(parseSearch('?port=0443&on=true')).toEqual({ port: '0443', on: 'true' });
});
