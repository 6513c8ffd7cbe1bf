import type { ReactNode } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Drawer } from '../../components/controls/drawer.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Note } from '../../components/layout/note.tsx';
import { Section } from '../../components/layout/section.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { DurationText } from '../../components/text/duration-text.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { plural } from '../../format/words.ts';
import { useSearchParam } from '../../url/use-search-param.ts';
import { shownValues } from './service-values.ts';

type Alerts = Data<'/api/v1/alerts'>;
type Rule = Alerts['alerts'][number];

/** Rules are evaluated every 30 s; events report changes of state, but not the values. Milliseconds. */
const refreshMs = 15_000;

/** Which rules hold now, and the values that they watch. */
export default function RulesTab(): ReactNode {
  const got = useGet('/api/v1/alerts', {}, { every: refreshMs });
  return (
    <Boundary got={got} what="The alerts" doing="see alerts" rows={6} rowHeight={36}>
      {(data) => <Rules data={data} />}
    </Boundary>
  );
}

function Rules({ data: { alerts, values } }: { data: Alerts }): ReactNode {
  const [name, setName] = useSearchParam('alert');
  const firing = alerts.filter(({ state }) => state === 'firing').length;
  const index = alerts.findIndex((alert) => alert.name === name);
  const open = alerts[index];
  const show = (at: number) => setName(alerts[at]?.name ?? null, { replace: true });
  return (
    <div className="flex flex-col gap-6">
      {alerts.length === 0 ? (
        <NoRules />
      ) : (
        <p className="text-size-14">
          {firing === 0
            ? `None of ${plural(alerts.length, 'alert')} is firing.`
            : `${firing} of ${plural(alerts.length, 'alert')} ${firing === 1 ? 'is' : 'are'} firing.`}
          <RuleFile rules={alerts} />
        </p>
      )}
      {alerts.length === 0 ? null : (
        <DataTable
          label="Alerts"
          columns={columns}
          rows={alerts}
          rowKey={(alert) => alert.name}
          dense={false}
          onOpen={(alert) => setName(alert.name)}
          openKey={open?.name ?? null}
          phoneRow={(alert) => <PhoneRule rule={alert} />}
          empty={null}
        />
      )}
      <Section title="Values now" note="what the conditions of rules can use" className="max-w-(--reading)">
        <KeyValues
          rows={shownValues(values).map(({ name, label, value }) => ({
            key: name,
            label: (
              <>
                <span className="text-text-2">{label}</span>{' '}
                <Mono className="ml-1 max-tablet:ml-0 max-tablet:block">{name}</Mono>
              </>
            ),
            value,
          }))}
        />
      </Section>
      {open === undefined ? null : (
        <RuleDrawer
          rule={open}
          position={`${index + 1} of ${alerts.length}`}
          onClose={() => setName(null)}
          onNext={index < alerts.length - 1 ? () => show(index + 1) : undefined}
          onPrevious={index > 0 ? () => show(index - 1) : undefined}
        />
      )}
    </div>
  );
}

/** Rules are written in one file; readers who may not see paths are not told where. */
function RuleFile({ rules }: { rules: readonly Rule[] }): ReactNode {
  const file = rules[0]?.origin?.replace(/:\d+$/, '');
  if (file === undefined) return null;
  return (
    <span className="block pt-0.5 text-size-12 text-text-3 [overflow-wrap:anywhere]">
      Rules are written in <Mono>{file}</Mono>; after a change: <Mono>portolan server reload</Mono>
    </span>
  );
}

function NoRules(): ReactNode {
  return (
    <Empty
      icon="alert"
      title="No alert rules"
      text={
        <>
          Rules notify a channel when scans fail, wait too long, or the disk fills. Write them to a file and
          name it in <Mono>alerts.file</Mono>; packaging/alerts.yaml has some to start from.
        </>
      }
    />
  );
}

const columns: readonly Column<Rule>[] = [
  { id: 'state', head: 'State', width: 132, priority: 0, cell: (rule) => <RuleState rule={rule} /> },
  {
    id: 'name',
    head: 'Alert',
    width: 160,
    grow: 2,
    priority: 0,
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    id: 'condition',
    head: 'Condition',
    width: 200,
    grow: 3,
    priority: 2,
    cell: ({ condition }) => <Mono title={condition}>{condition}</Mono>,
  },
  {
    id: 'since',
    head: 'Since',
    width: 104,
    priority: 1,
    cell: ({ since }) => <TimeText at={since} relative />,
  },
  {
    id: 'action',
    head: 'Notifies',
    width: 140,
    grow: 1,
    priority: 3,
    cell: ({ action }) => <Mono>{action}</Mono>,
  },
];

function PhoneRule({ rule }: { rule: Rule }): ReactNode {
  return (
    <div className="min-w-0">
      <div className="flex justify-between gap-3">
        <span className="min-w-0 truncate font-medium">{rule.name}</span>
        <RuleState rule={rule} />
      </div>
      <Mono className="block truncate text-text-2">{rule.condition}</Mono>
    </div>
  );
}

function RuleState({ rule: { state, error } }: { rule: Rule }): ReactNode {
  if (error !== null) return <StateMark state="interrupted" word="Not evaluated" />;
  if (state === 'firing') return <StateMark state="failed" word="Firing" />;
  return state === 'pending' ? (
    <StateMark state="pending" word="Pending" />
  ) : (
    <StateMark state="completed" word="Quiet" />
  );
}

interface RuleDrawerProps {
  rule: Rule;
  position: string;
  onClose: () => void;
  onNext: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
}

function RuleDrawer({ rule, ...moves }: RuleDrawerProps): ReactNode {
  const { name, since, condition, for_seconds, action, message, error, origin } = rule;
  return (
    <Drawer title={name} marks={<RuleState rule={rule} />} {...moves}>
      <div className="flex flex-col gap-4">
        {error === null ? null : (
          <Note tone="warning" title="The condition cannot be evaluated.">
            {error}
          </Note>
        )}
        <KeyValues
          form="column"
          rows={[
            {
              label: 'In this state since',
              value: since === null ? 'before the first evaluation' : <TimeText at={since} form="exact" />,
            },
            { label: 'Condition', value: <Mono>{condition}</Mono> },
            {
              label: 'Fires',
              value:
                for_seconds === 0 ? (
                  'at once'
                ) : (
                  <>
                    when it has held for <DurationText ms={for_seconds * 1000} />
                  </>
                ),
            },
            { label: 'Notifies', value: <Mono>{action}</Mono> },
            { label: 'Message', value: message },
            { label: 'Written in', value: origin === null ? undefined : <Mono>{origin}</Mono> },
          ]}
        />
      </div>
    </Drawer>
  );
}
