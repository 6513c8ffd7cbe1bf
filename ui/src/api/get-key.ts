import type { QueryKey } from '@tanstack/react-query';
import type { RequestParams } from './request.ts';

/** Key of a GET in the cache: path first, so that all requests of a path can be invalidated. */
export function getKey(path: string, { path: places = {}, query = {} }: RequestParams = {}): QueryKey {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return [path, places, Object.fromEntries(set)];
}
