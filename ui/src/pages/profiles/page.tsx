import { type ReactNode, useState } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { absent } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { useCan } from '../../session/session.ts';
import { useGo } from '../../url/link.tsx';
import { useSearchParam } from '../../url/use-search-param.ts';
import { NewFile } from '../graphs/new-file.tsx';
import { sourceWord } from '../graphs/source-word.ts';
import { ProfileDrawer } from './profile-drawer.tsx';

type ProfileRow = Data<'/api/v1/profiles'>['profiles'][number];

/** How thorough a scan is: what a scan request names. */
export default function ProfilesPage(): ReactNode {
  const got = useGet('/api/v1/profiles', {});
  const go = useGo();
  const mayWrite = useCan('admin');
  const [isNaming, setNaming] = useState(false);
  const profiles = got.data?.profiles;
  return (
    <>
      <PageHeader
        title="Profiles"
        meta={
          profiles &&
          `${plural(profiles.length, 'profile')}. A scan names one: it says which graph runs, with which ports and options.`
        }
        actions={
          <Button
            icon="plus"
            disabledReason={!mayWrite && 'Needs the scope admin'}
            onClick={() => setNaming(true)}
          >
            New profile
          </Button>
        }
      />
      <Boundary got={got} what="The profiles" doing="see profiles" rows={8} rowHeight={36}>
        {(data) => <Profiles profiles={data.profiles} />}
      </Boundary>
      {isNaming && (
        <NewFile
          what="profile"
          existing={profiles?.map(({ name }) => name) ?? []}
          onClose={() => setNaming(false)}
          onName={(name, from) => go(`/profiles/${name}?from=${from ?? '-'}`)}
        />
      )}
    </>
  );
}

function Profiles({ profiles }: { profiles: readonly ProfileRow[] }): ReactNode {
  const [open, setOpen] = useSearchParam('profile');
  const index = profiles.findIndex(({ name, aliases }) => name === open || aliases.includes(open));
  const profile = profiles[index];
  const show = (at: number) => setOpen(profiles[at]?.name ?? null, { replace: true });
  return (
    <>
      <DataTable
        label="Profiles"
        columns={columns}
        rows={profiles}
        rowKey={({ name }) => name}
        dense={false}
        onOpen={({ name }) => setOpen(name)}
        openKey={profile?.name ?? null}
        phoneRow={phoneRow}
        empty={
          <Empty
            icon="profile"
            title="No profiles"
            text="Profiles lie in the folder of installed profiles."
          />
        }
      />
      {profile !== undefined && (
        <ProfileDrawer
          name={profile.name}
          position={`${index + 1} of ${profiles.length}`}
          onClose={() => setOpen(null)}
          onNext={index < profiles.length - 1 ? () => show(index + 1) : undefined}
          onPrevious={index > 0 ? () => show(index - 1) : undefined}
        />
      )}
    </>
  );
}

const columns: readonly Column<ProfileRow>[] = [
  {
    id: 'name',
    head: 'Name',
    width: 170,
    priority: 0,
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    id: 'description',
    head: 'What it does',
    width: 260,
    grow: 1,
    priority: 1,
    cell: ({ description }) => description,
  },
  {
    id: 'aliases',
    head: 'Also called',
    width: 150,
    priority: 3,
    cell: ({ aliases }) => (aliases.length === 0 ? absent : aliases.join(', ')),
  },
  {
    id: 'source',
    head: 'Origin',
    width: 110,
    priority: 2,
    cell: ({ source }) => <Tag>{sourceWord(source)}</Tag>,
  },
];

function phoneRow({ name, description, source }: ProfileRow): ReactNode {
  return (
    <>
      <div className="flex justify-between gap-3">
        <span className="truncate font-medium text-text-1">{name}</span>
        <Tag>{sourceWord(source)}</Tag>
      </div>
      <div className="truncate text-size-12">{description}</div>
    </>
  );
}
