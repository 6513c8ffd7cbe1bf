import { Dialog } from '@base-ui/react/dialog';
import { useRouterState } from '@tanstack/react-router';
import { type KeyboardEvent, useDeferredValue, useId, useState } from 'react';
import { useGet } from '../../api/use-get.ts';
import { pageActions } from '../../components/controls/page-actions.ts';
import { Icon, type IconName } from '../../components/icons/icon.tsx';
import { localZone, setTimeZone } from '../../components/text/time-zone.ts';
import { signOut, useSession } from '../../session/session.ts';
import { useGo } from '../../url/link.tsx';
import { useSetSearch } from '../../url/use-search-param.ts';
import { pages } from '../pages.ts';
import { chooseTheme } from '../theme.ts';
import { type FoundValue, useResults } from './use-results.ts';

interface Entry {
  id: string;
  group: 'This page' | 'Filter' | 'Scans' | 'Actions' | 'Pages' | 'Results';
  icon: IconName;
  label: string;
  note?: string;
  run: () => void;
}

interface PaletteProps {
  onClose: () => void;
  /** Shows the list of keys. */
  onKeys: () => void;
}

/** Reaches every page, scan and action, and what the newest scans found, by a few letters. */
export function Palette({ isOpen, ...rest }: PaletteProps & { isOpen: boolean }) {
  const { onClose } = rest;
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Popup
          aria-label="Search or run"
          className="fixed top-[10vh] left-1/2 z-40 w-[min(600px,calc(100vw-32px))] -translate-x-1/2 overflow-hidden rounded-l bg-surface-overlay shadow-overlay"
        >
          <Search {...rest} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Search({ onClose, onKeys }: PaletteProps) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const { entries, isPending } = useEntries(text, onKeys);
  const current = entries[Math.min(at, entries.length - 1)];
  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setAt((at + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === 'Enter') run(current);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className="flex items-center gap-2 border-b border-line px-4">
        <Icon name="search" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={current && `${listId}-${current.id}`}
          aria-label="Search pages, scans, hosts, products, findings and actions"
          className="h-12 grow bg-transparent text-size-14 outline-none"
          placeholder="Page, scan, host, product, finding or action"
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
      </div>
      <div id={listId} role="listbox" aria-label="Matches" className="max-h-[50vh] overflow-y-auto p-2">
        {entries.map((entry, index) => (
          <div
            key={entry.id}
            id={`${listId}-${entry.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={entry === current}
            className={`flex min-h-9 cursor-pointer items-center gap-2 rounded-m px-2 ${
              entry === current ? 'bg-accent-soft' : ''
            }`}
            onMouseMove={() => setAt(index)}
            onClick={() => run(entry)}
            onKeyDown={press}
          >
            <span className="text-text-3">
              <Icon name={entry.icon} />
            </span>
            <bdi className="truncate">{entry.label}</bdi>
            {entry.note && <span className="truncate text-size-12 text-text-3">{entry.note}</span>}
            <span className="ml-auto text-size-11 text-text-3">{entry.group}</span>
          </div>
        ))}
        {entries.length === 0 && (
          <p className="px-2 py-4 text-text-3">
            {isPending ? 'Searching the newest scans…' : 'Nothing has this name.'}
          </p>
        )}
      </div>
    </>
  );
}

const shownScans = 6;

const resultWords: Record<FoundValue['field'], string> = {
  host: 'host',
  name: 'name of a host',
  product: 'product',
  id: 'finding',
};
const resultIcons: Record<FoundValue['field'], IconName> = {
  host: 'worker',
  name: 'worker',
  product: 'module',
  id: 'alert',
};

function useEntries(text: string, onKeys: () => void): { entries: Entry[]; isPending: boolean } {
  const go = useGo();
  const setSearch = useSetSearch();
  const { state: session } = useSession();
  const wanted = useDeferredValue(text.trim());
  const { data } = useGet(
    '/api/v1/scans',
    { query: { limit: shownScans, ...(wanted !== '' && { q: wanted }) } },
    { keep: true },
  );
  const scans: Entry[] = (data?.scans ?? []).map(({ scan_id, name, targets, status }) => ({
    id: scan_id,
    group: 'Scans',
    icon: 'scan',
    label: name ?? targets.join(', '),
    note: `${status} · ${scan_id}`,
    run: () => go(`/scans/${scan_id}`),
  }));
  const { found, isPending } = useResults(wanted);
  const results = found.map(
    (each): Entry => ({
      id: `result-${each.field}-${encodeURIComponent(each.value)}`,
      group: 'Results',
      icon: resultIcons[each.field],
      label: each.value,
      note: `${resultWords[each.field]} · ${each.scan.name ?? each.scan.targets.join(', ')} · ${each.scan.scan_id}`,
      run: () => go(each.path),
    }),
  );
  const actions: Entry[] = [
    action('new', 'plus', 'New scan', () => go('/scans/new')),
    action('new-job', 'calendar', 'New job', () => go('/jobs/new')),
    action('light', 'sun', 'Light colors', () => chooseTheme('light')),
    action('dark', 'sun', 'Dark colors', () => chooseTheme('dark')),
    action('utc', 'job', 'Times in UTC', () => setTimeZone('UTC')),
    action('local', 'job', `Times in ${localZone()}`, () => setTimeZone('local')),
    action('keys', 'about', 'Keys', onKeys),
    ...(session === 'signed-in' ? [action('out', 'key', 'Sign out', () => signOut())] : []),
  ];
  const known = new Set(actions.map(({ label }) => label));
  const ofPage = pageActions()
    .filter(({ label }) => !known.has(label) && known.add(label))
    .map(({ label, run }): Entry => ({ id: `page ${label}`, group: 'This page', icon: 'right', label, run }));
  const ofScan = useScanEntries();
  const ofPages = pages.flatMap((page): Entry[] => {
    const { group, icon, title, path, tabs = [] } = page;
    if (!group) return [];
    const place = (id: string, label: string): Entry => ({
      id,
      group: 'Pages',
      icon: icon as IconName,
      label,
      run: () => go(id),
    });
    return [place(path, title), ...tabs.slice(1).map((tab) => place(tab.path, `${title}: ${tab.title}`))];
  });
  const hasTable = document.querySelector('[data-filter]') !== null;
  const filter: Entry[] =
    hasTable && wanted !== ''
      ? [
          {
            id: 'filter',
            group: 'Filter',
            icon: 'filter',
            label: `Filter this table: ${wanted}`,
            run: () => setSearch({ q: wanted }),
          },
        ]
      : [];
  const lower = wanted.toLowerCase();
  const named = [...ofPage, ...ofScan, ...actions, ...ofPages].filter(({ label, note = '' }) =>
    `${label} ${note}`.toLowerCase().includes(lower),
  );
  // Last: they come late, and what stands above them does not move.
  return { entries: [...scans, ...named, ...filter, ...results], isPending };
}

function action(id: string, icon: IconName, label: string, run: () => void, note?: string): Entry {
  return { id, group: 'Actions', icon, label, run, ...(note !== undefined && { note }) };
}

/** The parts of the scan that is open; on other pages, where to find what belongs to a scan. */
function useScanEntries(): Entry[] {
  const go = useGo();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const scanId = /^\/scans\/(\d{8}-\d{6}-[a-z0-9]+)/.exec(path)?.[1];
  if (scanId === undefined)
    return [
      action('report', 'download', 'Reports', () => go('/scans'), 'PDF, HTML: open a scan, then Export'),
      action('changes', 'compare', 'What changed', () => go('/compare'), 'compare two scans'),
    ];
  const parts = pages.find(({ path }) => path === '/scans/$scanId')?.tabs ?? [];
  return parts.map((part) => ({
    id: part.path,
    group: 'This page',
    icon: 'scan',
    label: `${part.title} of this scan`,
    run: () => go(part.path.replace('$scanId', scanId).replace(/\/$/, '')),
  }));
}
