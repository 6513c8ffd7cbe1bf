import { join } from 'node:path';
import { root } from '../../program.ts';

/** What the table of pages in ui/src/app/pages.ts says of each. */
export interface Route {
  path: string;
  title: string;
  tabs?: readonly Route[];
}

// By a name that the compiler of the tests does not follow: it knows no browser.
const table = join(root, 'ui/src/app/pages.ts');
const { pages } = (await import(/* @vite-ignore */ table)) as { pages: readonly Route[] };

/** Every page and every tab of one. */
export const routes: readonly Route[] = pages.flatMap((page) => [page, ...(page.tabs ?? [])]);
