import { Icon } from '../../components/icons/icon.tsx';
import { Link } from '../../url/link.tsx';
import { useCurrentTitle } from '../../url/page-title.ts';
import { Connection } from './connection.tsx';

/** Where am I, is it live, and the palette. */
export function TopBar({ onPalette }: { onPalette: () => void }) {
  const { title, parents } = useCurrentTitle();
  return (
    <header className="no-print sticky top-0 z-10 flex h-11 shrink-0 items-center gap-3 border-b border-line bg-surface-1 px-4 tablet:px-6">
      <nav aria-label="Where you are" className="min-w-0 grow">
        <ol className="flex min-w-0 items-center gap-2">
          {parents.map(({ label, to }) => (
            <li key={to} className="flex items-center gap-2 whitespace-nowrap text-text-3 max-tablet:hidden">
              <Link to={to} className="text-text-3">
                {label}
              </Link>
              <Icon name="right" size={14} />
            </li>
          ))}
          <li aria-current="page" className="min-w-0 truncate font-medium">
            <bdi>{title}</bdi>
          </li>
        </ol>
      </nav>
      <Connection.State />
      <button
        type="button"
        onClick={onPalette}
        className="flex h-[30px] items-center gap-2 rounded-m border border-line px-2 text-size-12 text-text-3 tablet:min-w-52"
        aria-keyshortcuts="Control+K"
      >
        <Icon name="search" />
        <span className="max-tablet:sr-only">Search or run</span>
        <kbd className="ml-auto rounded-s border border-line px-1 font-sans text-size-11 max-tablet:hidden">
          Ctrl K
        </kbd>
      </button>
    </header>
  );
}
