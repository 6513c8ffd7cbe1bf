import type { Config } from '../../config/schema.ts';
import type { ScopeRules } from '../../scan-run/control.ts';

/** Settings that decide how scans run, without secrets and without what is of one machine: interfaces, resolvers, folders. */
interface ScanSettings {
  scanner: Omit<Config['scanner'], 'interface' | 'source_ip' | 'dns'>;
  engine: Config['engine'];
  modules: Config['modules'];
  multi_tenant: Config['multi_tenant'];
  queue: Pick<Config['queue'], 'timezone'>;
  workers: Pick<Config['workers'], 'lease' | 'shard_size' | 'max_attempts'>;
  workspace: Pick<Config['workspace'], 'enabled' | 'scans'>;
}

/** The settings by which others complete the scans of a server, as JSON. */
export function scanSettings(config: Config): string {
  const { engine, modules, multi_tenant, queue, workers, workspace } = config;
  const { interface: _interface, source_ip: _address, dns: _dns, ...scanner } = config.scanner;
  const settings: ScanSettings = {
    scanner,
    engine,
    modules,
    multi_tenant,
    queue: { timezone: queue.timezone },
    // The server sends until its own lease ends, not that of whoever completes its scans.
    workers: { lease: workers.lease, shard_size: workers.shard_size, max_attempts: workers.max_attempts },
    workspace: { enabled: workspace.enabled, scans: workspace.scans },
  };
  return JSON.stringify(settings);
}

/** The configuration of a machine with the settings of a server whose scans it completes. @throws SyntaxError */
export function withScanSettings(config: Config, settings: string): Config {
  const given = JSON.parse(settings) as Partial<ScanSettings>;
  return {
    ...config,
    scanner: { ...config.scanner, ...given.scanner },
    engine: { ...config.engine, ...given.engine },
    modules: given.modules ?? config.modules,
    multi_tenant: { ...config.multi_tenant, ...given.multi_tenant },
    queue: { ...config.queue, ...given.queue },
    workers: { ...config.workers, ...given.workers },
    workspace: { ...config.workspace, ...given.workspace },
  };
}

export function scopeRules({ scanner }: Config): ScopeRules {
  const { allow, deny } = scanner.scope;
  return { allow, deny, blocklist: scanner.blocklist };
}
