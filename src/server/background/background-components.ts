import type { Component } from '../components.ts';
import type { ServerContext } from '../context.ts';
import type { IndexKeeper } from '../results/index-keeper.ts';
import { RemovedFolders } from '../results/removed-folders.ts';
import type { ScanFolders } from '../results/scan-folders.ts';
import { FingerprintSync } from './fingerprint-sync.ts';
import { Housekeeping } from './housekeeping.ts';
import { JobClock } from './job-scheduler.ts';
import { watchLicense } from './license-watch.ts';

/** Background tasks of a server, beside scans and requests. */
export function backgroundComponents(
  context: ServerContext,
  folders: ScanFolders,
  indexKeeper: IndexKeeper,
): Component[] {
  const { config, log, results, comparison, damage, alerts, rules, vulndb } = context;
  return [
    folders,
    indexKeeper,
    ...(results ? [results] : []),
    ...(context.shards ? [new RemovedFolders(context)] : []),
    garbageComponent(context),
    new Housekeeping(context, log),
    comparison,
    damage,
    new FingerprintSync(config, log),
    vulndb,
    notifierComponent(context),
    alerts,
    rules,
    new JobClock(context),
    licenseComponent(context),
  ];
}

function garbageComponent({ garbage }: ServerContext): Component {
  return {
    start: () => garbage.start(),
    close: () => garbage.close(),
    reload: {
      'workspace.retention': (_next, changed) => {
        const concerns = [...changed].some((path) => path.startsWith('workspace.retention.'));
        return concerns ? () => garbage.sweep() : undefined;
      },
    },
  };
}

function notifierComponent({ notifier }: ServerContext): Component {
  return {
    start: () => notifier.start(),
    close: () => notifier.close(),
    reload: {
      notifications: (_next, changed) => {
        const concerns = [...changed].some((path) => path.startsWith('notifications.'));
        return concerns ? () => notifier.forgetFailures() : undefined;
      },
    },
  };
}

function licenseComponent({ license, log }: ServerContext): Component {
  let stop = () => {};
  return {
    start: () => {
      stop = watchLicense(license, log);
    },
    close: () => stop(),
  };
}
