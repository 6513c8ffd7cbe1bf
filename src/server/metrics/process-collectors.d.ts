/** The collectors of the client library, which its types leave out. */
declare module '@prometheus-io/client/lib/metrics/*.js' {
  import type { Registry } from '@prometheus-io/client';

  /** @param options precision in milliseconds */
  const collector: (registry: Registry, options: { eventLoopMonitoringPrecision: number }) => void;
  export default collector;
}
