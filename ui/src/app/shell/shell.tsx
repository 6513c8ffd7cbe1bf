import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { Toasts } from '../../components/controls/toasts.tsx';
import { startLive, stopLive } from '../../live/live.ts';
import { openSession, useSession } from '../../session/session.ts';
import { Connection } from './connection.tsx';
import { KeyHelp, usePageKeys } from './keys.tsx';
import { Login } from './login.tsx';
import { Palette } from './palette.tsx';
import { Sidebar } from './sidebar.tsx';
import { TopBar } from './top-bar.tsx';
import { Unreachable } from './unreachable.tsx';

/** The frame of every page. Without a valid token the login stands in its place, at the same URL. */
export function Shell() {
  const { state, tokenId } = useSession();
  const [failure, setFailure] = useState<ApiError | null>(null);
  const open = () => openSession().then(() => setFailure(null), setFailure);
  useEffect(() => void open(), []);
  const isOpen = state === 'signed-in' || state === 'open';
  useEffect(() => {
    if (!isOpen) return;
    startLive();
    return stopLive;
  }, [isOpen, tokenId]);
  if (failure) return <Unreachable failure={failure} onRetry={() => void open()} />;
  if (state === 'unknown') return null;
  if (!isOpen) return <Login />;
  return <Frame />;
}

function Frame() {
  const [overlay, setOverlay] = useState<'none' | 'palette' | 'keys' | 'menu'>('none');
  usePageKeys({ openPalette: () => setOverlay('palette'), openHelp: () => setOverlay('keys') });
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setOverlay('none'), [path]);
  return (
    <div className="grid min-h-full grid-cols-1 grid-rows-[auto_1fr] tablet:grid-cols-[52px_minmax(0,1fr)] tablet:grid-rows-1 desk:grid-cols-[var(--sidebar)_minmax(0,1fr)] print:block">
      <a
        href="#page"
        className="sr-only rounded-m bg-surface-overlay px-3 py-2 focus:not-sr-only focus:absolute focus:z-50"
      >
        Skip to the page
      </a>
      <Sidebar
        isOpen={overlay === 'menu'}
        onToggle={() => setOverlay(overlay === 'menu' ? 'none' : 'menu')}
        onHelp={() => setOverlay('keys')}
      />
      <div className="flex min-w-0 flex-col print:block">
        <TopBar onPalette={() => setOverlay('palette')} />
        <main id="page" tabIndex={-1} className="min-w-0 grow px-4 py-5 outline-none tablet:px-6 print:p-0">
          <Outlet />
        </main>
      </div>
      <Palette
        isOpen={overlay === 'palette'}
        onClose={() => setOverlay('none')}
        onKeys={() => setOverlay('keys')}
      />
      <KeyHelp isOpen={overlay === 'keys'} onClose={() => setOverlay('none')} />
      <Connection.Notices />
      <Toasts />
    </div>
  );
}
