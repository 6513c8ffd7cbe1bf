import { type ReactNode, useId, useState } from 'react';
import { Button } from '../../components/controls/button.tsx';
import { Dialog } from '../../components/controls/dialog.tsx';
import { Field } from '../../components/controls/field.tsx';
import { Select } from '../../components/controls/select.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';

interface Props {
  what: 'graph' | 'profile';
  /** Names that are taken, which can also be copied. */
  existing: readonly string[];
  /** Copied unless the reader chooses otherwise. */
  from?: string;
  onClose(): void;
  /** @param from null for an empty one */
  onName(name: string, from: string | null): void;
}

/** As the server checks it. */
const validName = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Asks for the name of a new graph or profile, and what it begins with. Nothing is saved yet. */
export function NewFile({ what, existing, from = '', onClose, onName }: Props): ReactNode {
  const [name, setName] = useState('');
  const [copied, setCopied] = useState(from);
  const [error, setError] = useState<string | null>(null);
  const form = useId();
  const submit = () => {
    if (!validName.test(name)) setError('1 to 64 of a-z, 0-9, _ and -; the first is a letter or digit');
    else if (existing.includes(name)) setError(`There is a ${what} of this name.`);
    else onName(name, copied === '' ? null : copied);
  };
  const options = [
    { value: '', label: 'An example' },
    ...existing.map((each) => ({ value: each, label: each })),
  ];
  return (
    <Dialog
      title={`New ${what}`}
      note="Nothing is saved until you save it."
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={form}>
            Write the {what}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field label="Name" hint="Scans and jobs name it so. Cannot be changed later." error={error}>
          <TextInput mono value={name} onChange={setName} maxLength={64} />
        </Field>
        <Field label="Begin with">
          <Select value={copied} onChange={setCopied} options={options} />
        </Field>
      </form>
    </Dialog>
  );
}
