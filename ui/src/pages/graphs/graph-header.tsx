import type { ReactNode } from 'react';
import { Button } from '../../components/controls/button.tsx';
import { Menu } from '../../components/controls/menu.tsx';
import { Icon } from '../../components/icons/icon.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { plural } from '../../format/words.ts';

export type GraphAction = 'save' | 'discard' | 'insert' | 'copy' | 'delete';

interface Props {
  name: string;
  opened: { source: string; isNew: boolean; isEditable: boolean };
  isChanged: boolean;
  isSaving: boolean;
  errors: number;
  /** The errors are those of the current text. */
  isChecked: boolean;
  mayWrite: boolean;
  onAction(action: GraphAction): void;
}

/** Name, origin and state of a graph, and what can be done with it. */
export function GraphHeader(props: Props): ReactNode {
  const { name, opened, isChanged, isSaving, mayWrite, onAction } = props;
  const isWritable = opened.isEditable && mayWrite;
  const noScope = !mayWrite && 'Needs the scope admin';
  return (
    <PageHeader
      title={name}
      crumbs={[{ label: 'Graphs', to: '/graphs' }]}
      mark={
        <>
          <Tag>{opened.isNew ? 'new graph' : opened.isEditable ? 'own graph' : `${opened.source} graph`}</Tag>
          <State {...props} />
        </>
      }
      meta={
        opened.isEditable
          ? undefined
          : 'This graph comes with the service and cannot be changed. Make a copy and change that.'
      }
      actions={
        isWritable ? (
          <>
            {isChanged && (
              <Button variant="ghost" icon="retry" onClick={() => onAction('discard')}>
                Discard
              </Button>
            )}
            <Button icon="module" onClick={() => onAction('insert')}>
              Insert module
            </Button>
            <Button
              variant="primary"
              pending={isSaving}
              disabledReason={reasonNotToSave(props)}
              onClick={() => onAction('save')}
            >
              Save
            </Button>
            <Menu
              label={`More actions for ${name}`}
              items={[
                { label: 'Make a copy…', icon: 'copy', onSelect: () => onAction('copy') },
                {
                  label: 'Delete graph…',
                  icon: 'x',
                  danger: true,
                  disabledReason: opened.isNew && 'It is not saved yet',
                  onSelect: () => onAction('delete'),
                },
              ]}
            />
          </>
        ) : (
          <Button icon="copy" disabledReason={noScope} onClick={() => onAction('copy')}>
            Make a copy…
          </Button>
        )
      }
    />
  );
}

function State({ errors, isChanged, opened }: Props): ReactNode {
  return (
    <span role="status" className="flex flex-wrap items-center gap-x-3 text-size-12 text-text-2">
      {errors > 0 && (
        <span className="inline-flex items-center gap-1.5 text-state-failed">
          <Icon name="state-failed" size={14} />
          {plural(errors, 'error')}
        </span>
      )}
      {isChanged && <span>{opened.isNew ? 'not saved yet' : 'changed, not saved'}</span>}
    </span>
  );
}

function reasonNotToSave({ errors, isChecked, isChanged }: Props): string | false {
  if (!isChanged) return 'Nothing was changed';
  if (errors > 0) return `${plural(errors, 'error')} must be mended first`;
  return !isChecked && 'The text is being checked';
}
