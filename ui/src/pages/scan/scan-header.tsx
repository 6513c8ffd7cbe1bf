import { useState } from 'react';
import { shownState } from '../../../../src/domain/scan-state.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { Menu } from '../../components/controls/menu.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { copyText } from '../../components/text/copy-text.ts';
import { DurationText } from '../../components/text/duration-text.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { count } from '../../format/numbers.ts';
import { useCan } from '../../session/session.ts';
import { useGo } from '../../url/link.tsx';
import { ExportMenu } from './export-menu.tsx';
import { runAgainPath, schedulePath } from './run-again.ts';
import { hasEnded, type Scan, scanTitle } from './use-scan.ts';

/** Not its detail, which nobody can load any more. */
const listsWithIt = ['/api/v1/scans', '/api/v1/dashboard'] as const;
const lists = ['/api/v1/scans', '/api/v1/scans/{scan_id}', '/api/v1/dashboard'] as const;

export function ScanHeader({ scan }: { scan: Scan }) {
  const state = shownState(scan);
  return (
    <PageHeader
      title={<TargetText text={scanTitle(scan)} />}
      mark={<StateMark state={state} by={scan.error?.by ?? scan.progress.paused_by ?? undefined} />}
      meta={[
        // A scan without a name is called by its targets.
        targetsOf(scan) === scanTitle(scan) ? null : <TargetText key="targets" text={targetsOf(scan)} mono />,
        `${scan.profile}, vulnerabilities ${scan.vuln ? 'on' : 'off'}`,
        <When key="when" scan={scan} />,
        <Mono key="id" className="whitespace-nowrap">
          {scan.scan_id}
        </Mono>,
      ]}
      actions={hasEnded(scan) ? <EndedActions scan={scan} /> : <RunningActions scan={scan} />}
    />
  );
}

const shownTargets = 4;

function targetsOf({ targets }: Scan): string {
  const left = targets.length - shownTargets;
  const first = targets.slice(0, shownTargets).join(', ');
  return left > 0 ? `${first} and ${count(left)} more` : first;
}

function When({ scan }: { scan: Scan }) {
  const { created_at, started_at, completed_at } = scan;
  if (started_at === null)
    return (
      <span>
        waits since <TimeText at={created_at} form="time" />
      </span>
    );
  if (completed_at === null)
    return (
      <span>
        started <TimeText at={started_at} form="time" />, <TimeText at={started_at} relative />
      </span>
    );
  return (
    <span>
      ended <TimeText at={completed_at} form="date-time" />, took{' '}
      <DurationText ms={Date.parse(completed_at) - Date.parse(started_at)} />
    </span>
  );
}

function RunningActions({ scan }: { scan: Scan }) {
  const path = { scan_id: scan.scan_id };
  const pause = useSend('post', '/api/v1/scans/{scan_id}/pause', { invalidates: lists });
  const resume = useSend('post', '/api/v1/scans/{scan_id}/resume', { invalidates: lists });
  const cancel = useSend('post', '/api/v1/scans/{scan_id}/cancel', { invalidates: lists });
  const [isAsking, setAsking] = useState(false);
  const mayWrite = useCan('scan:write', 'scan:execute');
  const lack = mayWrite ? undefined : 'Needs the scope scan:write or scan:execute';
  const change = (sender: typeof pause) =>
    void sender.send({ path }).catch((error: Error) => toast(error.message));
  const { progress, results } = scan;
  return (
    <>
      {progress.paused ? (
        <Button icon="play" disabledReason={lack} onClick={() => change(resume)}>
          Resume
        </Button>
      ) : (
        <Button icon="pause" disabledReason={lack} onClick={() => change(pause)}>
          Pause
        </Button>
      )}
      <Button variant="danger" disabledReason={lack} onClick={() => setAsking(true)}>
        Cancel scan…
      </Button>
      <MoreMenu scan={scan} />
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Cancel this scan?"
        goes={`${count(progress.not_tried ?? 0)} ${progress.unit ?? 'ports'} stay untried. The scan cannot go on later.`}
        stays={`Results so far stay: ${count(results.live_hosts)} hosts, ${count(results.open_ports)} services, ${count(results.vulnerabilities)} findings.`}
        verb="Cancel scan"
        onConfirm={() => cancel.send({ path })}
      />
    </>
  );
}

function EndedActions({ scan }: { scan: Scan }) {
  const go = useGo();
  return (
    <>
      <LinkButton to={`/compare?scan=${scan.scan_id}`} icon="compare">
        Compare
      </LinkButton>
      <ExportMenu scanId={scan.scan_id} />
      <Button icon="retry" onClick={() => go(runAgainPath(scan))}>
        Run again
      </Button>
      <MoreMenu scan={scan} />
    </>
  );
}

function MoreMenu({ scan }: { scan: Scan }) {
  const go = useGo();
  const remove = useSend('delete', '/api/v1/scans/{scan_id}', { invalidates: listsWithIt });
  const [isAsking, setAsking] = useState(false);
  const mayWrite = useCan('scan:write');
  const mayRepeat = useCan('job:write');
  const { results } = scan;
  return (
    <>
      <Menu
        label="More actions"
        icon="more"
        items={[
          ...(mayRepeat
            ? [{ label: 'Schedule…', icon: 'calendar' as const, onSelect: () => go(schedulePath(scan)) }]
            : []),
          { label: 'Copy link', icon: 'link', onSelect: () => void copy(location.href, 'Link copied') },
          { label: 'Copy scan ID', icon: 'copy', onSelect: () => void copy(scan.scan_id, 'Scan ID copied') },
          {
            label: 'Delete scan…',
            icon: 'x',
            danger: true,
            disabledReason: mayWrite ? undefined : 'Needs the scope scan:write',
            onSelect: () => setAsking(true),
          },
        ]}
      />
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Delete this scan?"
        goes={`${count(results.live_hosts)} hosts, ${count(results.open_ports)} services, ${count(results.vulnerabilities)} findings and all reports of this scan go.`}
        stays="Jobs and other scans stay."
        verb="Delete scan"
        onConfirm={async () => {
          await remove.send({ path: { scan_id: scan.scan_id } });
          go('/scans');
        }}
      />
    </>
  );
}

async function copy(text: string, done: string): Promise<void> {
  try {
    await copyText(text);
    toast(done);
  } catch {
    toast('The browser did not allow copying.');
  }
}
