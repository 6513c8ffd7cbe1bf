import type { TokenSummary } from '../../actions/access/list-tokens.ts';
import { printTable } from '../terminal/draw/print-table.ts';
import { whenText } from '../terminal/draw/times.ts';

/** `server token list`: the tenant only where a token has one. */
export function printTokens(tokens: readonly TokenSummary[], flags: { color: boolean }): void {
  const now = Date.now();
  const time = (at: string | null) => (at === null ? null : whenText(at, now));
  const hasTenants = tokens.some(({ tenant }) => tenant !== null);
  printTable<TokenSummary>(
    [
      { head: 'ID', cell: ({ id }) => id },
      {
        head: 'STATUS',
        cell: ({ status }) => status,
        paint: ({ status }) => (status === 'active' ? null : 'yellow'),
      },
      { head: 'CREATED', cell: ({ created_at }) => time(created_at) },
      { head: 'EXPIRES', cell: ({ expires_at }) => time(expires_at) ?? 'never' },
      { head: 'LAST USED', cell: ({ last_used_at }) => time(last_used_at) },
      ...(hasTenants ? [{ head: 'TENANT', cell: ({ tenant }: TokenSummary) => tenant }] : []),
      { head: 'NAME', cell: ({ name }) => name, over: 'end' },
      { head: 'SCOPES', cell: ({ scopes }) => scopes.join(' '), over: 'wrap' },
    ],
    tokens,
    flags,
    [
      ['SCOPES', 16],
      ['NAME', 12],
      ['CREATED', 0],
    ],
  );
}
