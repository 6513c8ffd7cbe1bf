import type { ReactNode } from 'react';
import { useGet } from '../../api/use-get.ts';
import { Icon } from '../../components/icons/icon.tsx';
import { Section } from '../../components/layout/section.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { bytes, count } from '../../format/numbers.ts';
import { capitalized } from '../../format/words.ts';

const mebibyte = 1_048_576;

/** What scans of this machine can do, and what to do about what they cannot. */
export function MachineAllows() {
  const { data: health } = useGet('/api/v1/health', {});
  const { data: vulndb } = useGet('/api/v1/vulndb', {});
  if (!health) return null;
  const { scanning, workspace, windows, checks } = health;
  const isRaw = scanning.method === 'raw packets';
  const interfaces = scanning.networks.map((network) => network.interface);
  const low = checks.find(({ name }) => name === 'disk_space');
  return (
    <Section title="What this machine allows">
      <ul>
        <Fact
          isGood={isRaw}
          title={isRaw ? 'Raw packets' : 'Connections only'}
          text={isRaw ? 'fast, half-open port scans' : 'slower, whole connections'}
          remedy={!isRaw && 'Give the server CAP_NET_RAW for half-open scans.'}
        />
        <Fact
          isGood={isRaw && interfaces.length > 0}
          title="Neighbor discovery"
          text={
            interfaces.length === 0
              ? 'no attached network to ask'
              : isRaw
                ? `MAC address and vendor on ${interfaces.join(', ')}`
                : 'needs raw packets'
          }
        />
        {!windows.open && (
          <Fact
            isGood={false}
            title="No scan now"
            text={<TargetText text={windows.reason ?? 'outside of the scan windows'} />}
          />
        )}
        {vulndb && (
          <Fact
            isGood={vulndb.lacks === null}
            title="Vulnerability data"
            text={`${vulndb.synced_at === null ? 'built in only' : 'imported'}, ${count(vulndb.cve_count)} CVEs`}
            remedy={vulndb.lacks ?? false}
          />
        )}
        <Fact
          isGood={low === undefined}
          title="Disk"
          text={`${bytes(workspace.free_space_mb * mebibyte)} free`}
          remedy={low !== undefined && capitalized(low.message)}
        />
      </ul>
    </Section>
  );
}

interface FactProps {
  isGood: boolean;
  title: string;
  text: ReactNode;
  /** What to do about it. */
  remedy?: string | false;
}

function Fact({ isGood, title, text, remedy }: FactProps) {
  return (
    <li className="flex gap-2.5 border-line-subtle border-b py-2">
      <Icon
        name={isGood ? 'state-completed' : 'warning'}
        label={isGood ? 'Good' : 'Limited'}
        className={`mt-px flex-none ${isGood ? 'text-state-completed' : 'text-state-interrupted'}`}
      />
      <div className="min-w-0">
        <p className="font-medium">{title}</p>
        <p className="text-size-12 text-text-2 [overflow-wrap:anywhere]">
          {text}
          {remedy ? `. ${remedy}` : ''}
        </p>
      </div>
    </li>
  );
}
