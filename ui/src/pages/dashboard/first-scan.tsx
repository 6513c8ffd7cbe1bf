import { type FormEvent, useState } from 'react';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { Section } from '../../components/layout/section.tsx';
import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { useGo } from '../../url/link.tsx';
import { usePageTitle } from '../../url/page-title.ts';
import { searchText } from '../../url/search-text.ts';
import { targetsIn } from '../new-scan/draft.ts';
import { usePlan } from '../new-scan/use-plan.ts';

/** The dashboard of an empty workspace: the way to the first scan. */
export function FirstScan() {
  usePageTitle('Dashboard');
  const [text, setText] = useState('');
  const go = useGo();
  const targets = targetsIn(text);
  const { plan, error, isChecking } = usePlan(targets.length === 0 ? null : { targets });
  const review = (wanted: string) => go(`/scans/new/review${searchText({ targets: wanted })}`);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (targets.length > 0) review(text);
  };
  return (
    <div className="mx-auto flex max-w-[680px] flex-col gap-8 pt-8">
      <div>
        <h1 className="pb-2">Start a first scan</h1>
        <p className="text-text-2">
          Nothing has been scanned here yet. Name what you are allowed to scan. You see addresses, packets and
          duration before anything is sent.
        </p>
      </div>
      <form onSubmit={submit} className="flex flex-col gap-3" noValidate>
        <Field
          label="Targets"
          error={error?.reasonOf('targets') ?? (error ? error.message : null)}
          hint={
            plan
              ? `${plural(plan.addresses + plan.hostnames, 'address', 'addresses')} to scan${plan.excluded > 0 ? `, ${count(plan.excluded)} out of scope or excluded` : ''}`
              : isChecking
                ? 'Checking…'
                : 'Addresses, CIDR, ranges or names, separated by commas'
          }
        >
          <TextInput value={text} onChange={setText} mono autoFocus placeholder="192.168.20.0/24" />
        </Field>
        <div>
          <Button
            type="submit"
            variant="primary"
            disabledReason={targets.length === 0 ? 'Name a target first' : undefined}
          >
            Review plan
          </Button>
        </div>
      </form>
      <Section title="Or take this one">
        <button
          type="button"
          className="flex min-h-11 w-full items-center gap-4 border-line-subtle border-b text-left hover:bg-surface-2"
          onClick={() => review('127.0.0.1')}
        >
          <span className="font-medium">This machine</span>
          <span className="mono">127.0.0.1</span>
          <span className="ml-auto text-text-2">1 address</span>
        </button>
      </Section>
      <p className="text-text-2">
        On a command line: <code className="mono">portolan scan {targets[0] ?? '127.0.0.1'} --vuln</code>
      </p>
    </div>
  );
}
