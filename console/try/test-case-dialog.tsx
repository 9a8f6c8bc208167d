import { useMemo, useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { CopyButton } from '../components/button.tsx'
import { InfoDialog } from '../components/dialog.tsx'
import { TextField } from '../components/field.tsx'
import { formatCount } from '../components/format.ts'
import { TextBox } from '../components/json-view.tsx'
import { Segments } from '../components/page.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { type Expected, hasExpectation, toTestCase } from './to-test-case.ts'

/** A longer one is copied as a whole, and shown in part. */
const MAX_SHOWN = 20_000

type Props = {
  /** JSON text. */
  input: string
  run: ExecutionRecord
  steps: StepRecord[]
  onClose: () => void
}

export function TestCaseDialog({ input, run, steps, onClose }: Props) {
  const [name, setName] = useState('')
  const [expected, setExpected] = useState<Expected>('output')
  const isExpected = hasExpectation(run)
  const yaml = useMemo(
    () => toTestCase({ name, input, run, steps, expected }),
    [name, input, run, steps, expected],
  )
  const waited = steps.some(({ wait }) => wait !== undefined)
  return (
    <InfoDialog
      title="As test case"
      onClose={onClose}
      actions={<CopyButton text={yaml} subject="the test case" />}
    >
      <p class="muted">
        Add it to <code>cases.yaml</code> in the folder of the agent. <code>npx agent-execution test</code>{' '}
        runs it. It contains the input and the result of this run: check them for personal data.
      </p>
      <TextField
        label="Name of the case"
        value={name}
        onChange={setName}
        maxLength={200}
        placeholder={`execution ${run.id}`}
      />
      {isExpected ? (
        <Segments
          label="What the case expects"
          choices={{
            output: run.error ? 'The same error' : 'The same output',
            success: 'That it succeeds',
          }}
          chosen={expected}
          onChoose={setExpected}
        />
      ) : (
        <p class="muted">The run was cancelled, so the case expects nothing but success.</p>
      )}
      <TextBox label="Test case in YAML">
        <VisibleText text={yaml.slice(0, MAX_SHOWN)} />
      </TextBox>
      {yaml.length > MAX_SHOWN && (
        <p class="muted">and {formatCount(yaml.length - MAX_SHOWN)} more characters</p>
      )}
      {waited && (
        <p class="muted">
          This run has waited. <code>npx agent-execution cases add {run.id}</code> makes a case that also has
          what ended its waits.
        </p>
      )}
    </InfoDialog>
  )
}
