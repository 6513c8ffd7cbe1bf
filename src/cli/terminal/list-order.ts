/** Sort orders of `workspace list`; numbers in descending order. */
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
