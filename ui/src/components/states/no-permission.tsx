import { Fragment, type ReactNode } from 'react';
import { signOut, useSession } from '../../session/session.ts';
import { Button } from '../controls/button.tsx';
import { Mono } from '../text/mono.tsx';
import { Blank } from './blank.tsx';

export interface NoPermissionProps {
  /** Any one of them is enough. */
  scope: string | readonly string[];
  /** What it may not do: "read the audit log". */
  what?: string;
}

/** Which scope is needed and which the token has. */
export function NoPermission({ scope, what = 'open this page' }: NoPermissionProps): ReactNode {
  const { scopes } = useSession();
  const needed = typeof scope === 'string' ? [scope] : scope;
  return (
    <Blank
      icon="lock"
      title={`This token may not ${what}`}
      actions={<Button onClick={() => signOut()}>Use another token</Button>}
    >
      It needs the scope <Scopes scopes={needed} word="or" />. It has{' '}
      {scopes.length === 0 ? 'none' : <Scopes scopes={scopes} word="and" />}.
    </Blank>
  );
}

function Scopes({ scopes, word }: { scopes: readonly string[]; word: string }): ReactNode {
  return scopes.map((scope, index) => (
    <Fragment key={scope}>
      {index === 0 ? null : index === scopes.length - 1 ? ` ${word} ` : ', '}
      <Mono>{scope}</Mono>
    </Fragment>
  ));
}
