import { type FormEvent, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { takeFocus } from '../../components/controls/take-focus.ts';
import { TextInput } from '../../components/controls/text-input.tsx';
import { Icon } from '../../components/icons/icon.tsx';
import { signIn, useSession } from '../../session/session.ts';
import { usePageTitle } from '../../url/page-title.ts';

/** One field, one button, the server's words below. The page that was asked for opens afterwards. */
export function Login() {
  const { reason } = useSession();
  const [token, setToken] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  usePageTitle('Sign in');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() === '') return setFailure('Enter a token.');
    setBusy(true);
    await signIn(token.trim()).catch((error: unknown) => setFailure(wordsOf(error)));
    setBusy(false);
  };
  return (
    <main className="mx-auto flex min-h-full w-full max-w-[400px] flex-col justify-center gap-6 px-4 py-12">
      <p className="flex items-center gap-2 text-size-16 font-semibold">
        <span className="text-accent-text">
          <Icon name="compass" />
        </span>
        Portolan
      </p>
      <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4" noValidate>
        <h1>Sign in</h1>
        {reason !== null && (
          <p role="alert" className="flex gap-2 rounded-m border border-line bg-surface-0 px-3 py-2">
            <Icon name="warning" />
            {reason}
          </p>
        )}
        <Field
          label="Token"
          hint={
            <>
              Create one on the server:
              <code className="mono block pt-1 text-text-2">
                portolan server token create --name me --scopes admin
              </code>
            </>
          }
          error={failure}
        >
          <TextInput
            type="password"
            value={token}
            autoComplete="off"
            ref={takeFocus}
            mono
            onChange={(text: string) => {
              setToken(text);
              setFailure(null);
            }}
          />
        </Field>
        <Button type="submit" variant="primary" disabledReason={isBusy ? 'Checking the token' : undefined}>
          Sign in
        </Button>
      </form>
      <p className="text-size-12 text-text-3">The token stays in this tab and is sent only to this server.</p>
    </main>
  );
}

function wordsOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401)
    return 'No valid token. Check for missing characters.';
  return error instanceof Error ? error.message : String(error);
}
