import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/schema.ts';
import { defaultPriority, type ScanOptions, type ScanRequest } from '../../domain/scan.ts';
import type { GraphLibrary } from '../../engine/graph/graph-library.ts';
import { applyProfile } from '../../scan-run/plan/apply-profile.ts';
import { channelsOf, defaultPool, optionNames } from '../../scan-run/plan/decide-request.ts';
import type { Submission } from '../../scan-run/plan/submission.ts';
import type { Store } from '../../store/open.ts';
import { noSuchScan, showScan } from './show-scan.ts';

/** A submission, with the graph file that came with it. */
export type Repeated = Omit<Submission, 'graph' | 'plugins'> & { graph?: { file: string; text: string } };

/**
 * What to submit for the same scan once more. What the profile and the configuration give by themselves is left out.
 * @throws PortolanError `not_found`
 */
export async function showRequest(
  store: Store,
  scanId: string,
  config: Config,
  library: GraphLibrary,
): Promise<Repeated> {
  await showScan(store, scanId);
  const request = await store.scans.request(scanId);
  if (request === null) throw noSuchScan();
  return repeatedSubmission(request, config, library);
}

/** The submission that the server would turn into this request. */
function repeatedSubmission(request: ScanRequest, config: Config, library: GraphLibrary): Repeated {
  const given = applyProfile(library.profile(request.profile), { targets: [] }, config).submission;
  const off = request.options.disable_plugins?.filter((name) => !config.plugins.disabled.includes(name));
  const own = { ...request.options, disable_plugins: off?.length ? off : undefined };
  const options = optionsOf(own, given.options ?? {});
  const { targets, exclude, profile, vuln, name, tags, ports, rate, dag, pool, notifications } = request;
  const { priority = defaultPriority } = request;
  const graph = { file: `${dag}.yaml`, text: request.graph ?? '' };
  // No graph of that name is installed: the file came with the scan.
  const wasSent = request.graph !== undefined && dag !== null && library.get(dag) === undefined;
  return {
    targets,
    ...(exclude.length > 0 && { exclude }),
    ...(name !== null && { name }),
    ...(tags.length > 0 && { tags }),
    profile,
    vuln,
    ...(ports !== null && ports !== given.ports && { ports }),
    ...(rate !== (given.rate ?? config.scanner.rate) && { rate }),
    ...(dag !== null && dag !== given.dag && (wasSent ? { graph } : { dag })),
    ...(pool !== defaultPool && { pool }),
    ...(priority !== defaultPriority && { priority }),
    ...(!isDeepStrictEqual(notifications, channelsOf(given, config)) && { notifications }),
    ...(Object.keys(options).length > 0 && { options }),
  };
}

function optionsOf(options: ScanOptions, given: ScanOptions): ScanOptions {
  return Object.fromEntries(
    optionNames
      .filter((name) => options[name] !== undefined && !isDeepStrictEqual(options[name], given[name]))
      .map((name) => [name, options[name]]),
  );
}
