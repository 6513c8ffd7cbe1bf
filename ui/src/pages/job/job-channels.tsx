import type { ReactNode } from 'react';
import { useGet } from '../../api/use-get.ts';
import { channelNote } from '../../components/channels/channel-note.ts';
import { WithChannelTest } from '../../components/channels/channel-test.tsx';
import { Section } from '../../components/layout/section.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { type Job, paramsOf } from '../jobs/job.ts';

/** Who is notified at the end of each run. */
export function JobChannels({ job }: { job: Job }): ReactNode {
  const { data } = useGet('/api/v1/notifications/channels', {});
  const named = paramsOf(job)['notifications'];
  const own = Array.isArray(named) ? named.map(String) : [];
  const channels = data?.channels ?? [];
  const shown = [
    ...(own.length > 0 ? own : channels.filter((each) => each.default).map(({ channel }) => channel)),
    ...channels.filter((each) => each.by_rule).map(({ channel }) => channel),
  ];
  return (
    <Section title="Notifies" note={own.length === 0 ? 'the default channels' : undefined}>
      {shown.length === 0 ? (
        <p className="pt-2 text-text-2">Nobody: it names no channel, and there is no default one.</p>
      ) : (
        <ul>
          {[...new Set(shown)].map((address) => {
            const known = channels.find(({ channel }) => channel === address);
            return (
              <WithChannelTest key={address} channel={address}>
                <TargetText text={address} mono wrap />
                {known && <p className="text-size-12 text-text-3">{channelNote(known)}</p>}
              </WithChannelTest>
            );
          })}
        </ul>
      )}
    </Section>
  );
}
