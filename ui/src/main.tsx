import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/api-error.ts';
import { earlyPauseMs, indexPauseMs, indexShareOf, isEarly } from './api/index-share.ts';
import { onTokenRejected } from './api/request.ts';
import { router } from './app/router.tsx';
import { applyTheme } from './app/theme.ts';
import { applyEvent } from './live/apply-event.ts';
import { onLiveEvent } from './live/live.ts';
import { tokenRejected } from './session/session.ts';
import './styles/app.css';

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say what changed; without a stream the data is asked for again at the next visit.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      refetchInterval: ({ state }) => isEarly(state.data) && earlyPauseMs,
      retry: (failures, error) =>
        indexShareOf(error) !== null || (error instanceof ApiError && error.status === 0 && failures < 2),
      retryDelay: (failures, error) =>
        indexShareOf(error) === null ? Math.min(1000 * 2 ** failures, 30_000) : indexPauseMs,
    },
  },
});

applyTheme();
onTokenRejected(tokenRejected);
onLiveEvent((event) => applyEvent(cache, event));

const place = document.getElementById('app');
if (place) {
  createRoot(place).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={cache}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
}
