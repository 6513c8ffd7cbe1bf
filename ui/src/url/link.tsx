import { useRouter } from '@tanstack/react-router';
import type { ComponentProps, MouseEvent } from 'react';
import { uiPath } from './paths.ts';

/** @param to path of a page with its search, `/scans?q=berlin` */
export function Link({ to, onClick, ...rest }: ComponentProps<'a'> & { to: string }) {
  const go = useGo();
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    go(to);
  };
  return <a {...rest} href={hrefOf(to)} onClick={follow} />;
}

export function hrefOf(to: string): string {
  return `${uiPath}${to}`;
}

/** Opens a page by its path. */
export function useGo(): (to: string, options?: { replace?: boolean }) => void {
  const router = useRouter();
  return (to, { replace = false } = {}) => {
    if (replace) router.history.replace(hrefOf(to));
    else router.history.push(hrefOf(to));
  };
}
