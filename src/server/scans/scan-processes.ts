import type { ServingProcessInput } from '../../worker/serving-process.ts';
import { WarmProcesses } from '../../worker/warm-processes.ts';
import { logEnvironment } from '../logging/log.ts';
import type { PoolContext } from './pool-context.ts';

type ProcessContext = Pick<PoolContext, 'config' | 'entryFile' | 'logOutput' | 'log'>;

/** A scan process talks to hostile hosts: of the environment, which may hold any secret, it gets what programs need to run. */
const passedOn =
  /^(?:PATH|LD_LIBRARY_PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|NODE_\w+|SSL_CERT_\w+|PORTOLAN_\w+)$/;

export function scanEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => passedOn.test(name)));
}

/** What a scan process starts with now; a reload may change it. */
function processSettings({ config, entryFile, logOutput }: ProcessContext): ServingProcessInput {
  return {
    entryFile,
    env: { ...scanEnvironment(process.env), ...logEnvironment(config.logging) },
    onLogLine: logOutput.lineTaker(),
  };
}

/** The processes of a server or worker that run scans, shards and last steps one after another. */
export function processesOf(context: ProcessContext): WarmProcesses {
  return new WarmProcesses({
    settings: () => processSettings(context),
    // Another process would have to start while the shards of large scans take all processors.
    keepsSpare: context.config.queue.url !== null,
    onReplace: (reason, pid) => context.log.debug({ pid, reason }, 'scan process replaced'),
  });
}
