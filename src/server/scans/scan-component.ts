import type { Component } from '../components.ts';
import type { ServerContext } from '../context.ts';
import { ScanWindows } from './scan-windows.ts';

/** Runs scans within the configured windows. */
export function scanComponent({
  config,
  workers,
  log,
}: Pick<ServerContext, 'config' | 'workers' | 'log'>): Component {
  const windows = new ScanWindows(config, workers, log);
  return {
    start: async () => {
      windows.start();
      await workers.start();
    },
    drain: ({ scansMs }) => workers.close(scansMs),
    close: () => windows.close(),
    // Narrows the scope before a window opens.
    reload: {
      'scanner.scope': ({ scanner }, changed) => {
        const concerns = [...changed].some((path) => path.startsWith('scanner.'));
        return concerns ? () => workers.narrowScope(scanner) : undefined;
      },
      'scanner.windows': (_next, changed) => {
        const concerns = changed.has('scanner.windows') || changed.has('scanner.freeze');
        return concerns ? () => windows.renew() : undefined;
      },
    },
  };
}
