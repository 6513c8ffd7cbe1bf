import type { ReactNode } from 'react';
import { useGet } from '../../api/use-get.ts';
import { TextInput } from '../../components/controls/text-input.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { Mono } from '../../components/text/mono.tsx';
import { Num } from '../../components/text/num.tsx';
import { plural } from '../../format/words.ts';
import { useSearchParam } from '../../url/use-search-param.ts';
import { ModuleDrawer } from './module-drawer.tsx';
import { optionsOf } from './module-options.ts';
import type { ModuleRow } from './module-row.ts';

/** What graphs are made of. */
export default function ModulesPage(): ReactNode {
  const got = useGet('/api/v1/modules', {});
  const [text, setText] = useSearchParam('q');
  const count = got.data?.modules.length;
  return (
    <>
      <PageHeader
        title="Modules"
        meta={count === undefined ? undefined : `${plural(count, 'module')} that graphs can be made of`}
      />
      <div className="max-w-96 pb-3">
        <TextInput
          data-filter
          type="search"
          label="Filter modules"
          placeholder="Filter by name, kind or key"
          value={text}
          onChange={(next) => setText(next, { replace: true })}
        />
      </div>
      <Boundary got={got} what="The modules" doing="see modules" rows={12}>
        {({ modules }) => <Modules all={modules} text={text} onClear={() => setText(null)} />}
      </Boundary>
    </>
  );
}

function Modules({
  all,
  text,
  onClear,
}: {
  all: readonly ModuleRow[];
  text: string;
  onClear(): void;
}): ReactNode {
  const [open, setOpen] = useSearchParam('module');
  const shown = all.filter((module) => searchable(module).includes(text.trim().toLowerCase()));
  const index = shown.findIndex(({ name }) => name === open);
  const module = shown[index] ?? all.find(({ name }) => name === open);
  const show = (at: number) => setOpen(shown[at]?.name ?? null, { replace: true });
  return (
    <>
      <DataTable
        label="Modules"
        columns={columns}
        rows={shown}
        rowKey={({ name }) => name}
        onOpen={({ name }) => setOpen(name)}
        lines={2}
        openKey={open}
        phoneRow={phoneRow}
        empty={
          <Empty
            icon="filter"
            title="No module matches this filter"
            text={`${plural(all.length, 'module')} hidden by “${text}”.`}
            action={
              <button type="button" className="text-accent-text hover:underline" onClick={onClear}>
                Show all modules
              </button>
            }
          />
        }
      />
      {module !== undefined && (
        <ModuleDrawer
          module={module}
          all={all}
          position={index < 0 ? undefined : `${index + 1} of ${shown.length}`}
          onClose={() => setOpen(null)}
          onNext={index >= 0 && index < shown.length - 1 ? () => show(index + 1) : undefined}
          onPrevious={index > 0 ? () => show(index - 1) : undefined}
        />
      )}
    </>
  );
}

const columns: readonly Column<ModuleRow>[] = [
  { id: 'name', head: 'Name', width: 190, priority: 0, cell: ({ name }) => <Mono>{name}</Mono> },
  { id: 'type', head: 'Kind', width: 110, priority: 2, cell: ({ type }) => type },
  {
    id: 'description',
    head: 'What it does',
    width: 240,
    grow: 1,
    priority: 1,
    cell: ({ description }) => (
      <span className="line-clamp-2 whitespace-normal leading-[17px]">{description}</span>
    ),
  },
  {
    id: 'options',
    head: 'Options',
    width: 64,
    align: 'right',
    priority: 4,
    cell: ({ config_schema }) => <Num value={optionsOf(config_schema).length} />,
  },
  { id: 'version', head: 'Version', width: 64, priority: 5, cell: ({ version }) => <Mono>{version}</Mono> },
  { id: 'source', head: 'Origin', width: 110, priority: 3, cell: ({ source }) => <Tag>{source}</Tag> },
];

function phoneRow({ name, type, description }: ModuleRow): ReactNode {
  return (
    <>
      <div className="flex justify-between gap-3 text-text-1">
        <Mono>{name}</Mono>
        <span className="text-size-12 text-text-3">{type}</span>
      </div>
      <div className="truncate text-size-12">{description}</div>
    </>
  );
}

function searchable({ name, type, description, requires, provides, source }: ModuleRow): string {
  return [name, type, description, source, ...requires, ...provides].join(' ').toLowerCase();
}
