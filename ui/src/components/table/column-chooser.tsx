import type { ReactNode } from 'react';
import { useSearchParam } from '../../url/use-search-param.ts';
import { Menu, type MenuItem } from '../controls/menu.tsx';
import { chosenColumns } from './column-layout.ts';
import type { ColumnChooserProps } from './table-props.ts';

/** The menu that shows and hides columns. What is hidden for lack of width is in it too. */
export function ColumnChooser({ columns, shown, onShown }: ColumnChooserProps): ReactNode {
  const chosen = new Set(chosenColumns(columns.map(sized), shown).map(({ id }) => id));
  const flip = (id: string) => {
    const next = columns
      .map((column) => column.id)
      .filter((each) => (each === id ? !chosen.has(id) : chosen.has(each)));
    onShown(next);
  };
  const items: MenuItem[] = columns.map(({ id, head, title, priority }) => ({
    label: title ?? head,
    checked: chosen.has(id),
    onSelect: () => flip(id),
    disabledReason: priority === 0 && 'Names the row',
  }));
  if (shown !== undefined)
    items.push(null, { label: 'Show the usual columns', onSelect: () => onShown(undefined) });
  return (
    <Menu label="Columns" icon="columns" variant="ghost" items={items}>
      Columns
    </Menu>
  );
}

/** Columns that the reader chose, in the URL: `columns=address,os`. */
export function useShownColumns(param = 'columns'): Pick<ColumnChooserProps, 'shown' | 'onShown'> {
  const [text, setText] = useSearchParam(param);
  return {
    shown: text === '' ? undefined : text.split(','),
    onShown: (shown) => setText(shown === undefined ? null : shown.join(','), { replace: true }),
  };
}

function sized<C extends ColumnChooserProps['columns'][number]>(column: C) {
  return { ...column, width: 0 };
}
