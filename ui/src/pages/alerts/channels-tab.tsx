import { type FormEvent, type ReactNode, useState } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { Note } from '../../components/layout/note.tsx';
import { Section } from '../../components/layout/section.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { type Channel, configuredChannels } from './configured-channels.ts';

type TestResult = Data<'/api/v1/notifications/test', 'post'>;

/** Channels that the configuration names, and whether they work. */
export default function ChannelsTab(): ReactNode {
  const got = useGet('/api/v1/config', {});
  return (
    <div className="flex max-w-(--reading) flex-col gap-8">
      <Boundary got={got} what="The channels" doing="see notification channels" rows={4} rowHeight={48}>
        {({ settings }) => (
          <>
            <Channels channels={configuredChannels(settings)} />
            <AnyChannel />
          </>
        )}
      </Boundary>
    </div>
  );
}

function Channels({ channels }: { channels: readonly Channel[] }): ReactNode {
  return (
    <Section title="Channels" note="from notifications in the configuration file">
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
            <ChannelRow key={channel.address} channel={channel} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function ChannelRow({ channel: { address, isDefault, note } }: { channel: Channel }): ReactNode {
  const test = useSend('post', '/api/v1/notifications/test');
  const [result, setResult] = useState<TestResult | null>(null);
  const lack = useLack('admin');
  const run = () => test.send({ body: { channel: address } }).then(setResult, () => setResult(null));
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line-subtle border-b py-2">
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-2">
          <Mono className="[overflow-wrap:anywhere]">{address}</Mono>
          {isDefault ? <Tag>default of scans</Tag> : null}
        </div>
        {note === '' ? null : (
          <p className="pt-0.5 text-size-12 text-text-3 [overflow-wrap:anywhere]">{note}</p>
        )}
        <Outcome result={result} problem={test.error?.message ?? null} />
      </div>
      <Button
        size="small"
        pending={test.isPending}
        disabledReason={lack}
        aria-description={address}
        onClick={() => void run()}
      >
        {test.isPending ? 'Sending' : 'Send test message'}
      </Button>
    </li>
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
        <Outcome result={result} problem={reason === null ? (test.error?.message ?? null) : null} />
        <Note>
          A test message is sent at once and given up after 10 s. It goes out even where a rule or a
          subscription would hold other messages back.
        </Note>
      </form>
    </Section>
  );
}

const words = { delivered: 'Delivered', skipped: 'Skipped', failed: 'Failed' } as const;
const marks = { delivered: 'completed', skipped: 'skipped', failed: 'failed' } as const;

function Outcome({ result, problem }: { result: TestResult | null; problem: string | null }): ReactNode {
  return (
    <div role="status" className="text-size-12">
      {problem !== null ? (
        <span className="text-state-failed">{problem}</span>
      ) : result === null ? null : (
        <span className="flex flex-wrap items-baseline gap-x-2 pt-0.5">
          <StateMark state={marks[result.status]} word={words[result.status]} />
          <span className="text-text-2 [overflow-wrap:anywhere]">{result.reason}</span>
        </span>
      )}
    </div>
  );
}
