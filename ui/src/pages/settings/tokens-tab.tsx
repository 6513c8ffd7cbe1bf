import { type ReactNode, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { Checkbox } from '../../components/controls/checkbox.tsx';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { plural } from '../../format/words.ts';
import { signOut, useSession } from '../../session/session.ts';
import { useSearchParam } from '../../url/use-search-param.ts';
import { NewToken } from './new-token.tsx';

type Token = Data<'/api/v1/tokens'>['tokens'][number];

/** Who may use the API, and for how long. */
export default function TokensTab(): ReactNode {
  const got = useGet('/api/v1/tokens', {});
  const [isCreating, setCreating] = useState(false);
  const lack = useLack('admin');
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-80 text-text-2">
          People sign in with a token, programs send it with each request. A token is shown once: the server
          stores only its hash.
        </p>
        <Button icon="plus" variant="primary" disabledReason={lack} onClick={() => setCreating(true)}>
          New token
        </Button>
      </div>
      <Boundary got={got} what="The tokens" doing="see tokens" rows={4} rowHeight={36}>
        {({ tokens }) => <Tokens tokens={tokens} />}
      </Boundary>
      {isCreating ? <NewToken onClose={() => setCreating(false)} /> : null}
    </div>
  );
}

function Tokens({ tokens }: { tokens: readonly Token[] }): ReactNode {
  const { state, tokenId } = useSession();
  const [all, setAll] = useSearchParam('all');
  const [revoking, setRevoking] = useState<Token | null>(null);
  const active = tokens.filter(({ state }) => state === 'active');
  const shown = all === 'true' ? tokens : active;
  const ended = tokens.length - active.length;
  return (
    <>
      {ended === 0 ? null : (
        <Checkbox
          label={`Show ${plural(ended, 'token')} that expired or were revoked`}
          checked={all === 'true'}
          onChange={(on) => setAll(on ? 'true' : null)}
        />
      )}
      <DataTable
        label="Tokens"
        columns={columnsOf(tokenId, setRevoking).filter(
          ({ id }) =>
            (id !== 'state' || all === 'true') &&
            (id !== 'tenant' || tokens.some(({ tenant }) => tenant !== null)),
        )}
        rows={shown}
        rowKey={({ token_id }) => token_id}
        dense={false}
        phoneRow={(token) => (
          <PhoneToken token={token} isOwn={token.token_id === tokenId} onRevoke={setRevoking} />
        )}
        empty={
          <Empty
            icon="key"
            title="No tokens"
            text={
              state === 'open'
                ? 'This server requires none: everybody who reaches it may do everything. The setting server.api.auth changes that.'
                : 'Without a token only the command line of this machine can use the API.'
            }
          />
        }
      />
      {revoking === null ? null : (
        <RevokeToken
          token={revoking}
          isOwn={revoking.token_id === tokenId}
          onClose={() => setRevoking(null)}
        />
      )}
    </>
  );
}

function columnsOf(ownId: string | null, revoke: (token: Token) => void): Column<Token>[] {
  return [
    {
      id: 'name',
      head: 'Name',
      width: 220,
      grow: 2,
      priority: 0,
      cell: (token) => <Name token={token} isOwn={token.token_id === ownId} />,
    },
    { id: 'state', head: 'State', width: 96, priority: 2, cell: ({ state }) => <TokenState state={state} /> },
    {
      id: 'scopes',
      head: 'Scopes',
      width: 200,
      grow: 3,
      priority: 1,
      cell: ({ scopes }) => (
        <span className="line-clamp-2 whitespace-normal leading-[17px]" title={scopes.join(', ')}>
          {scopes.join(', ')}
        </span>
      ),
    },
    { id: 'tenant', head: 'Tenant', width: 88, priority: 5, cell: ({ tenant }) => tenant ?? <None /> },
    {
      id: 'created',
      head: 'Created',
      width: 96,
      priority: 6,
      cell: ({ created_at }) => <TimeText at={created_at} relative />,
    },
    {
      id: 'expires',
      head: 'Expires',
      width: 160,
      priority: 3,
      cell: ({ expires_at }) => (expires_at === null ? 'never' : <TimeText at={expires_at} relative />),
    },
    {
      id: 'used',
      head: 'Last used',
      width: 96,
      priority: 4,
      cell: ({ last_used_at }) =>
        last_used_at === null ? (
          <span className="text-text-3">never</span>
        ) : (
          <TimeText at={last_used_at} relative />
        ),
    },
    {
      id: 'actions',
      head: 'Actions',
      width: 84,
      align: 'right',
      priority: 0,
      cell: (token) => <Revoke token={token} onRevoke={revoke} />,
    },
  ];
}

function Name({ token, isOwn }: { token: Token; isOwn: boolean }): ReactNode {
  return (
    <span className="inline-flex min-w-0 max-w-full items-center gap-2">
      <span className="truncate font-medium">
        <TargetText text={token.name} />
      </span>
      <Mono className="text-text-3">{token.token_id}</Mono>
      {isOwn ? <Tag>this token</Tag> : null}
    </span>
  );
}

function PhoneToken(props: { token: Token; isOwn: boolean; onRevoke: (token: Token) => void }): ReactNode {
  const { token, isOwn, onRevoke } = props;
  return (
    <div className="flex items-center gap-2">
      <div className="min-w-0 flex-1">
        <Name token={token} isOwn={isOwn} />
        <div className="truncate text-size-12 text-text-3">
          {token.scopes.join(', ')} · {token.tenant === null ? null : `${token.tenant} · `}
          <PhoneEnd token={token} />
        </div>
      </div>
      <Revoke token={token} onRevoke={onRevoke} />
    </div>
  );
}

/** When it ends, or that it has ended. */
function PhoneEnd({ token: { state, expires_at } }: { token: Token }): ReactNode {
  if (state !== 'active') return state;
  if (expires_at === null) return 'never expires';
  return (
    <>
      expires <TimeText at={expires_at} relative />
    </>
  );
}

function Revoke({ token, onRevoke }: { token: Token; onRevoke: (token: Token) => void }): ReactNode {
  const lack = useLack('admin');
  if (token.state !== 'active') return null;
  return (
    <Button
      size="small"
      variant="ghost"
      disabledReason={lack}
      aria-description={`token ${token.name}`}
      onClick={() => onRevoke(token)}
    >
      Revoke…
    </Button>
  );
}

function TokenState({ state }: { state: Token['state'] }): ReactNode {
  if (state === 'active') return <StateMark state="completed" word="Active" />;
  return <StateMark state="canceled" word={state === 'expired' ? 'Expired' : 'Revoked'} />;
}

function None(): ReactNode {
  return <span className="text-text-3">–</span>;
}

function RevokeToken({
  token,
  isOwn,
  onClose,
}: {
  token: Token;
  isOwn: boolean;
  onClose: () => void;
}): ReactNode {
  const { send } = useSend('delete', '/api/v1/tokens/{token_id}', { invalidates: ['/api/v1/tokens'] });
  /** The server has refused it as the last one of an administrator. */
  const [isLast, setLast] = useState(false);
  const revoke = async () => {
    const path = { token_id: token.token_id };
    try {
      await send(isLast ? { path, query: { force: true } } : { path });
    } catch (error) {
      setLast(error instanceof ApiError && error.details['reason'] === 'last_admin_token');
      throw error;
    }
    if (isOwn) signOut('You revoked this token.');
    else toast(`Token ${token.name} revoked. The server rejects it within 2 s.`);
  };
  return (
    <ConfirmDialog
      title={`Revoke token ${token.name}?`}
      goes={
        isOwn
          ? 'This is the token of this page: you are signed out at once.'
          : 'Programs and people that use it are rejected within 2 s.'
      }
      stays="Scans and jobs that it started go on."
      verb={isLast ? 'Revoke it all the same' : 'Revoke token'}
      onConfirm={revoke}
      onClose={onClose}
    />
  );
}
