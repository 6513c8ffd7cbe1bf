/** Orders of `workspace list`; figures with the largest first. */
export const listOrders = [
  'newest',
  'oldest',
  'status',
  'profile',
  'name',
  'hosts',
  'ports',
  'findings',
] as const;

export type ListSorting = (typeof listOrders)[number];
