import type { ReactNode } from 'react';
import { useGet } from '../../api/use-get.ts';
import { Checkbox } from '../controls/checkbox.tsx';
import { Field } from '../controls/field.tsx';
import { TextArea } from '../controls/text-area.tsx';
import { channelNote } from './channel-note.ts';
import { WithChannelTest } from './channel-test.tsx';

interface ChannelsFieldProps {
  /** Channels separated by blanks, commas or lines. */
  value: string;
  onChange: (value: string) => void;
  error: string | null | undefined;
}

/** Who is notified: the channels that exist, each with a test, and any other one by its address. */
export function ChannelsField({ value, onChange, error }: ChannelsFieldProps): ReactNode {
  const { data } = useGet('/api/v1/notifications/channels', {});
  const chosen = value.split(/[\s,]+/).filter(Boolean);
  const put = (channel: string, on: boolean) =>
    onChange((on ? [...chosen, channel] : chosen.filter((each) => each !== channel)).join('\n'));
  const channels = data?.channels ?? [];
  return (
    <div className="flex flex-col gap-3">
      {data && (
        <fieldset className="min-w-0">
          <legend className="font-medium text-size-12">Notification channels</legend>
          {channels.length === 0 ? (
            <p className="text-text-2">None is configured yet: see Alerts, Notification channels.</p>
          ) : (
            <ul aria-label="Notification channels">
              {channels.map((channel) => (
                <WithChannelTest key={channel.channel} channel={channel.channel}>
                  <Checkbox
                    label={channel.channel}
                    hint={channelNote(channel)}
                    checked={chosen.includes(channel.channel)}
                    onChange={(on) => put(channel.channel, on)}
                  />
                </WithChannelTest>
              ))}
            </ul>
          )}
        </fieldset>
      )}
      <Field
        label="Channels"
        optional
        hint="As type://name, for example slack://security-alerts. Empty: the default channels."
        error={error}
      >
        <TextArea value={value} onChange={onChange} mono rows={2} />
      </Field>
    </div>
  );
}
