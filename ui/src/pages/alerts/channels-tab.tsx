import { type FormEvent, type ReactNode, useState } from 'react';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { type Channel, channelNote } from '../../components/channels/channel-note.ts';
import { TestOutcome, type TestResult, WithChannelTest } from '../../components/channels/channel-test.tsx';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { Note } from '../../components/layout/note.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { Mono } from '../../components/text/mono.tsx';

/** Channels that the configuration names, and whether they work. */
export default function ChannelsTab(): ReactNode {
  const got = useGet('/api/v1/notifications/channels', {});
  return (
    <div className="flex max-w-(--reading) flex-col gap-8">
      <Boundary got={got} what="The channels" doing="see notification channels" rows={4} rowHeight={48}>
        {({ channels }) => (
          <>
            <Channels channels={channels} />
            <AnyChannel />
          </>
        )}
      </Boundary>
    </div>
  );
}

function Channels({ channels }: { channels: readonly Channel[] }): ReactNode {
  return (
    <Section
      title="Channels"
      note="from notifications in the configuration file, the one place to change them"
    >
      {channels.length === 0 ? (
        <Empty
          icon="alert"
          title="No channels yet"
          text={
            <>
              Set <Mono>notifications.slack</Mono>, <Mono>notifications.email</Mono> or{' '}
              <Mono>notifications.webhooks</Mono> in the configuration file, then reload.
            </>
          }
        />
      ) : (
        <ul>
          {channels.map((channel) => (
            <WithChannelTest key={channel.channel} channel={channel.channel}>
              <ChannelFacts channel={channel} />
            </WithChannelTest>
          ))}
        </ul>
      )}
    </Section>
  );
}

function ChannelFacts({ channel }: { channel: Channel }): ReactNode {
  const { channel: address, default: isDefault, origin } = channel;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <Mono className="[overflow-wrap:anywhere]">{address}</Mono>
        {isDefault ? <Tag>default of scans</Tag> : null}
      </div>
      <p className="pt-0.5 text-size-12 text-text-3 [overflow-wrap:anywhere]">
        {channelNote({ ...channel, default: false })}
      </p>
      {origin === null ? null : (
        <p className="text-size-12 text-text-3 [overflow-wrap:anywhere]">
          set in <Mono>{origin}</Mono>
        </p>
      )}
    </>
  );
}

/** A channel that no setting names: another Slack channel, another address. */
function AnyChannel(): ReactNode {
  const [channel, setChannel] = useState('');
  const test = useSend('post', '/api/v1/notifications/test');
  const [result, setResult] = useState<TestResult | null>(null);
  const lack = useLack('admin');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    test.send({ body: { channel: channel.trim() } }).then(setResult, () => setResult(null));
  };
  const reason = test.error?.reasonOf('channel') ?? null;
  return (
    <Section title="Test another channel">
      <form onSubmit={submit} className="flex flex-col items-start gap-3 pt-3" noValidate>
        <div className="w-full">
          <Field label="Channel" hint="slack://name, email://address or webhook://name" error={reason}>
            <TextInput
              mono
              value={channel}
              onChange={(next) => {
                setChannel(next);
                setResult(null);
                test.reset();
              }}
              placeholder="slack://security"
            />
          </Field>
        </div>
        <Button
          type="submit"
          pending={test.isPending}
          disabledReason={lack ?? (channel.trim() === '' && 'Enter a channel first')}
          reasonBeside
        >
          {test.isPending ? 'Sending' : 'Send test message'}
        </Button>
        <TestOutcome result={result} problem={reason === null ? (test.error?.message ?? null) : null} />
        <Note>
          A test message is sent at once and given up after 10 s. It goes out even where a rule or a
          subscription would hold other messages back.
        </Note>
      </form>
    </Section>
  );
}
