import { useRouterState } from '@tanstack/react-router';
import { useGet } from '../../api/use-get.ts';
import { Icon, type IconName } from '../../components/icons/icon.tsx';
import { chooseTenant, chosenTenant, signOut, useCan, useSession } from '../../session/session.ts';
import { Link } from '../../url/link.tsx';
import { groups, type Page, pages } from '../pages.ts';
import { chooseTheme, type Theme, useTheme } from '../theme.ts';

interface SidebarProps {
  /** The menu of small screens. */
  isOpen: boolean;
  onToggle: () => void;
  onHelp: () => void;
}

/** All pages: with words on wide screens, as icons on narrow ones, as a menu on phones. */
export function Sidebar({ isOpen, onToggle, onHelp }: SidebarProps) {
  return (
    <aside
      aria-label="Sidebar"
      className="no-print z-10 flex flex-col border-line bg-surface-0 px-2 max-tablet:border-b tablet:sticky tablet:top-0 tablet:h-dvh tablet:overflow-y-auto tablet:border-r tablet:pb-3"
    >
      <div className="flex h-11 shrink-0 items-center gap-2 px-2">
        <Link
          to="/"
          className="flex min-h-6 items-center gap-2 text-size-14 font-semibold text-text-1 hover:no-underline"
        >
          <span className="text-accent-text">
            <Icon name="compass" />
          </span>
          <span className="tablet:max-desk:sr-only">Portolan</span>
        </Link>
        <button
          type="button"
          className="ml-auto flex size-11 items-center justify-center tablet:hidden"
          aria-expanded={isOpen}
          aria-controls="pages"
          onClick={onToggle}
        >
          <Icon name={isOpen ? 'x' : 'menu'} label={isOpen ? 'Close the menu' : 'Menu'} />
        </button>
      </div>
      <nav
        id="pages"
        aria-label="Pages"
        className={`grow flex-col pb-2 tablet:flex ${isOpen ? 'flex' : 'hidden'}`}
      >
        <TenantChoice />
        {(Object.keys(groups) as (keyof typeof groups)[]).map((group) => (
          <Group key={group} name={groups[group]} pages={pages.filter((page) => page.group === group)} />
        ))}
        <Foot onHelp={onHelp} />
      </nav>
    </aside>
  );
}

/** Whose data the pages show, for tokens that may act for several tenants. */
function TenantChoice() {
  const { tenants } = useSession();
  if (tenants === null || tenants.length < 2) return null;
  return (
    <label className="mb-2 flex items-center gap-2 tablet:max-desk:hidden">
      <span className="sr-only">Tenant</span>
      <select
        className="h-8 w-full rounded-m border border-line-control bg-surface-1 px-2 text-size-12"
        value={chosenTenant() ?? ''}
        onChange={({ target }) => {
          chooseTenant(target.value);
          // Everything on the page is of the other tenant.
          location.reload();
        }}
      >
        {tenants.map((tenant) => (
          <option key={tenant} value={tenant}>
            {tenant}
          </option>
        ))}
      </select>
    </label>
  );
}

function Group({ name, pages }: { name: string; pages: readonly Page[] }) {
  if (pages.length === 0) return null;
  return (
    <>
      {name !== '' && (
        <h2 className="px-2 pt-4 pb-1 text-size-11 font-normal text-text-3 tablet:max-desk:sr-only">
          {name}
        </h2>
      )}
      <ul>
        {pages.map((page) => (
          <li key={page.path}>
            <Entry page={page} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Entry({ page }: { page: Page }) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isCurrent = page.path === '/' ? path === '/' : path === page.path || path.startsWith(`${page.path}/`);
  const scopes = page.scopes ?? ['scan:read'];
  const may = useCan(...scopes);
  const isAllowed = may || scopes.length === 0;
  return (
    <Link
      to={page.path}
      title={isAllowed ? page.title : `${page.title}: your token lacks ${scopes.join(' or ')}`}
      aria-current={isCurrent ? 'page' : undefined}
      className={`flex h-11 items-center gap-2 rounded-m px-2 hover:bg-surface-2 hover:no-underline tablet:h-7 ${
        isCurrent ? 'bg-surface-3 font-medium text-text-1' : 'text-text-2'
      }`}
    >
      <Icon name={page.icon as IconName} />
      <span className="tablet:max-desk:sr-only">{page.title}</span>
      {!isAllowed && (
        <span className="ml-auto text-text-3 tablet:max-desk:hidden">
          <Icon name="lock" size={14} label="no permission" />
        </span>
      )}
    </Link>
  );
}

function Foot({ onHelp }: { onHelp: () => void }) {
  const { state, name, tenant } = useSession();
  const { data: version } = useGet('/api/v1/version', {});
  return (
    <div className="mt-auto px-2 pt-4 text-size-12 text-text-3 tablet:max-desk:px-0">
      <div className="flex items-center gap-2 tablet:max-desk:sr-only">
        <Icon name={state === 'open' ? 'pin' : 'key'} size={14} />
        <span className="min-w-0 truncate" title={tenant === null ? undefined : `Tenant ${tenant}`}>
          {state === 'open' ? 'No token needed' : name}
          {tenant === null ? null : ` · ${tenant}`}
        </span>
        {state === 'signed-in' && (
          <button type="button" className="ml-auto min-h-6 flex-none underline" onClick={() => signOut()}>
            Sign out
          </button>
        )}
      </div>
      <div className="flex items-center gap-1 pt-1 tablet:max-desk:flex-col">
        <span className="min-w-0 grow truncate tablet:max-desk:sr-only">Portolan {version?.version}</span>
        <ThemeButton />
        <button
          type="button"
          className="flex size-6 items-center justify-center rounded-s border border-line"
          aria-label="Keys"
          title="Keys (?)"
          onClick={onHelp}
        >
          ?
        </button>
      </div>
    </div>
  );
}

const nextTheme: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };

function ThemeButton() {
  const theme = useTheme();
  return (
    <button
      type="button"
      className="flex size-6 items-center justify-center"
      title={`Colors: ${theme}`}
      aria-label={`Colors: ${theme}. Change to ${nextTheme[theme]}`}
      onClick={() => chooseTheme(nextTheme[theme])}
    >
      <Icon name="sun" />
    </button>
  );
}
