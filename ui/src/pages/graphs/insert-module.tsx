import { type ReactNode, useState } from 'react';
import { useGet } from '../../api/use-get.ts';
import { Dialog } from '../../components/controls/dialog.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { Boundary } from '../../components/states/boundary.tsx';

interface Props {
  onClose(): void;
  onInsert(moduleType: string): void;
}

/** Choice of a module for a new node. */
export function InsertModule({ onClose, onInsert }: Props): ReactNode {
  const got = useGet('/api/v1/modules', {});
  const [text, setText] = useState('');
  return (
    <Dialog
      title="Insert a module"
      note="Its node is added at the end of the text."
      size="normal"
      onClose={onClose}
    >
      <TextInput label="Find a module" placeholder="Find a module" value={text} onChange={setText} />
      <Boundary got={got} what="The modules" doing="see modules" rows={8}>
        {({ modules }) => (
          <ul className="m-0 mt-3 h-80 list-none overflow-y-auto p-0">
            {modules
              .filter(({ name, description }) =>
                `${name} ${description}`.toLowerCase().includes(text.toLowerCase()),
              )
              .map(({ name, description, type }) => (
                <li key={name}>
                  <button
                    type="button"
                    className="flex min-h-(--row) w-full flex-wrap items-baseline gap-x-3 rounded-m px-2 py-1.5 text-left hover:bg-surface-2"
                    onClick={() => onInsert(name)}
                  >
                    <span className="mono font-medium">{name}</span>
                    <span className="text-size-12 text-text-3">{type}</span>
                    <span className="basis-full text-size-12 text-text-2">{description}</span>
                  </button>
                </li>
              ))}
          </ul>
        )}
      </Boundary>
    </Dialog>
  );
}
