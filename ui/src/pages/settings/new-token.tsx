import { type FormEvent, type ReactNode, useId, useState } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { Checkbox } from '../../components/controls/checkbox.tsx';
import { Dialog } from '../../components/controls/dialog.tsx';
import { Field } from '../../components/controls/field.tsx';
import { Segmented } from '../../components/controls/segmented.tsx';
import { Select } from '../../components/controls/select.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Note } from '../../components/layout/note.tsx';
import { CopyButton } from '../../components/text/copy-button.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { useSession } from '../../session/session.ts';
import { type Role, roleOf, roles, tokenScopes } from './token-scopes.ts';

type Created = Data<'/api/v1/tokens', 'post'>;

const lifetimes = [
  { value: '1d', label: '1 day' },
  { value: '30d', label: '30 days' },
  { value: '90d', label: '90 days' },
  { value: '365d', label: '1 year' },
  { value: 'never', label: 'Never', hint: 'until somebody revokes it' },
] as const;

type Lifetime = (typeof lifetimes)[number]['value'];

/** Asks for name, scopes and lifetime, then shows the secret once. */
export function NewToken({ onClose }: { onClose: () => void }): ReactNode {
  const [created, setCreated] = useState<Created | null>(null);
  return created === null ? (
    <TokenForm onCreated={setCreated} onClose={onClose} />
  ) : (
    <TokenSecret created={created} onClose={onClose} />
  );
}

interface TokenFormProps {
  onCreated: (created: Created) => void;
  onClose: () => void;
}

function TokenForm({ onCreated, onClose }: TokenFormProps): ReactNode {
  const form = useId();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>(roles[0]?.scopes ?? []);
  const role = roleOf(chosen);
  const [lifetime, setLifetime] = useState<Lifetime>('90d');
  const [tenant, setTenant] = useState('');
  const { send, isPending, error } = useSend('post', '/api/v1/tokens', { invalidates: ['/api/v1/tokens'] });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = {
      name,
      scopes: [...chosen],
      expires_in: lifetime === 'never' ? null : lifetime,
      ...(tenant !== '' && { tenant }),
    };
    // The error is shown in the form.
    send({ body }).then(onCreated, () => undefined);
  };
  const ofFields =
    error === null
      ? []
      : ['name', 'scopes', 'expires_in', 'tenant'].filter((field) => error.reasonOf(field) !== null);
  return (
    <Dialog
      title="New token"
      size="normal"
      sticky
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            variant="primary"
            pending={isPending}
            disabledReason={chosen.length === 0 && 'Choose at least one scope'}
          >
            Create token
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-5" noValidate>
        {error !== null && ofFields.length === 0 ? <Note tone="problem">{error.message}</Note> : null}
        <Field
          label="Name"
          hint="What it is for. It stands in the audit log."
          error={error?.reasonOf('name')}
        >
          <TextInput value={name} onChange={setName} placeholder="ops-laptop" maxLength={100} />
        </Field>
        <Field
          label="Role"
          hint={roles.find(({ value }) => value === role)?.hint ?? 'the scopes chosen below'}
        >
          <Segmented<Role>
            options={role === 'own' ? [...roles, { value: 'own', label: 'Own scopes' }] : roles}
            value={role}
            onChange={(next) => setChosen(roles.find(({ value }) => value === next)?.scopes ?? chosen)}
          />
        </Field>
        <fieldset className="min-w-0">
          <legend className="pb-1.5 font-medium text-size-12">Scopes</legend>
          <div className="grid gap-x-4 gap-y-1.5 tablet:grid-flow-col tablet:grid-cols-2 tablet:grid-rows-7">
            {tokenScopes.map(([scope, words]) => (
              <Checkbox
                key={scope}
                label={scope}
                hint={words}
                checked={chosen.includes(scope)}
                onChange={(on) =>
                  setChosen(on ? [...chosen, scope] : chosen.filter((each) => each !== scope))
                }
              />
            ))}
          </div>
          {error?.reasonOf('scopes') ? (
            <p role="alert" className="pt-1.5 text-size-12 text-state-failed">
              {error.reasonOf('scopes')}
            </p>
          ) : null}
        </fieldset>
        <Field label="Expires after" error={error?.reasonOf('expires_in')}>
          <Select value={lifetime} onChange={setLifetime} options={lifetimes} />
        </Field>
        <TenantField value={tenant} onChange={setTenant} error={error?.reasonOf('tenant')} />
      </form>
    </Dialog>
  );
}

interface TenantFieldProps {
  value: string;
  onChange: (tenant: string) => void;
  error: string | null | undefined;
}

/** Where the service has tenants and the reader is of none of them. */
function TenantField({ value, onChange, error }: TenantFieldProps): ReactNode {
  const { tenant } = useSession();
  const { data } = useGet('/api/v1/config', {}, { enabled: tenant === null });
  const valueOf = (key: string) => data?.settings.find((setting) => setting.key === key)?.value;
  const tenants = valueOf('multi_tenant.tenants');
  if (valueOf('multi_tenant.enabled') !== true || !Array.isArray(tenants)) return null;
  return (
    <Field label="Tenant" hint="A token of one tenant sees nothing of the others." error={error}>
      <Select
        value={value}
        onChange={onChange}
        options={[
          { value: '', label: 'None, the whole service' },
          ...tenants.map((each) => ({ value: String(each), label: String(each) })),
        ]}
      />
    </Field>
  );
}

function TokenSecret({ created, onClose }: { created: Created; onClose: () => void }): ReactNode {
  return (
    <Dialog
      title="Token created"
      note="This is the only time it is shown. Copy it to where it is used."
      size="normal"
      sticky
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="mb-4 flex items-center gap-2 rounded-m border border-line bg-surface-0 px-3 py-2">
        <code className="mono min-w-0 flex-1 select-all [overflow-wrap:anywhere]">{created.secret}</code>
        <CopyButton text={created.secret} label="Copy" wordy />
      </div>
      <KeyValues
        rows={[
          { label: 'Name', value: created.name },
          { label: 'Scopes', value: created.scopes.join(', ') },
          { label: 'Tenant', value: created.tenant ?? undefined },
          {
            label: 'Expires',
            value: created.expires_at === null ? 'never' : <TimeText at={created.expires_at} />,
          },
        ]}
      />
    </Dialog>
  );
}
