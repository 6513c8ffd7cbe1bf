import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { uiPath } from '../url/paths.ts';
import { parseSearch, searchText } from '../url/search-text.ts';
import { type Page, pages } from './pages.ts';
import { NotFound, PageFailed } from './shell/page-failed.tsx';
import { Shell } from './shell/shell.tsx';

const root: AnyRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** A page with tabs draws the frame around them; each tab has a route of its own. */
function routeOf(page: Page, parent: AnyRoute, prefix = ''): AnyRoute {
  const route: AnyRoute = createRoute({
    getParentRoute: () => parent,
    path: page.path.slice(prefix.length) || '/',
    component: lazyRouteComponent(page.load),
  });
  const tabs = (page.tabs ?? []).map((tab) => routeOf(tab, route, page.path));
  return tabs.length > 0 ? route.addChildren(tabs) : route;
}

export const router = createRouter({
  routeTree: root.addChildren(pages.map((page) => routeOf(page, root))),
  basepath: uiPath === '' ? '/' : uiPath,
  parseSearch,
  stringifySearch: searchText,
  scrollRestoration: true,
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailed,
});
