import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { count as written } from '../../format/numbers.ts';
import { Link } from '../../url/link.tsx';

export interface TabLink {
  /** Path of the page, as in `Link`. */
  to: string;
  label: string;
  /** How many rows it holds. */
  count?: number | null;
}

export interface TabLinksProps {
  tabs: readonly TabLink[];
  /** What the tabs are of, for screen readers: "Parts of this scan". */
  label?: string;
}

/** Parts of a page, each with a URL. The open one is the tab with the longest path that the open page begins with. */
export function TabLinks({ tabs, label = 'Parts of this page' }: TabLinksProps): ReactNode {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const open = openTab(tabs, path);
  const list = useRef<HTMLUListElement>(null);
  const place = open?.to;
  // On phones the open tab may lie beyond the edge. The page itself does not scroll.
  useEffect(() => {
    const tab = list.current?.querySelector('[aria-current]');
    if (tab) showSideways(tab, list.current?.parentElement);
  }, [place]);
  return (
    <nav
      aria-label={label}
      className="no-print -mx-4 mb-3 overflow-x-auto border-line border-b px-4 [scrollbar-width:none] tablet:mx-0 tablet:px-0"
    >
      <ul ref={list} className="flex h-[38px] gap-5 pointer-coarse:h-(--row-touch)">
        {tabs.map((tab) => {
          const here = tab === open;
          return (
            <li key={tab.to} className="flex">
              <Link
                to={tab.to}
                aria-current={here ? 'page' : undefined}
                className={`-mb-px flex items-center gap-1.5 whitespace-nowrap border-b-2 no-underline! focus-visible:-outline-offset-2 ${
                  here
                    ? 'border-accent font-medium text-text-1'
                    : 'border-transparent text-text-2 hover:text-text-1'
                }`}
              >
                {tab.label}
                {tab.count === undefined || tab.count === null ? null : (
                  <span className="font-normal text-size-12 text-text-3">{written(tab.count)}</span>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function openTab(tabs: readonly TabLink[], path: string): TabLink | undefined {
  const pathOf = ({ to }: TabLink) => to.split('?')[0] ?? to;
  return tabs
    .filter((tab) => path === pathOf(tab) || path.startsWith(`${pathOf(tab)}/`))
    .sort((a, b) => pathOf(b).length - pathOf(a).length)[0];
}

function showSideways(element: Element, box: HTMLElement | null | undefined): void {
  if (!box) return;
  const [inner, outer] = [element.getBoundingClientRect(), box.getBoundingClientRect()];
  // Some of the tab beside it shows that there are more.
  const beside = 32;
  if (inner.left < outer.left) box.scrollLeft -= outer.left - inner.left + beside;
  else if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right + beside;
}
