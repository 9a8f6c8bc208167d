import { useMemo } from 'preact/hooks'
import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { requestRun } from '../api/runs.ts'
import { useResource } from '../api/use-resource.ts'
import { Button } from '../components/button.tsx'
import { printJson } from '../components/json-tree.ts'
import { ValueView } from '../components/value-view.tsx'
import { Text } from '../components/visible-text.tsx'
import { JsonInput } from '../schema/json-editor.tsx'
import type { useCheck } from '../schema/run-check.ts'
import { isEditable } from '../schema/use-large-input.ts'
import { useScope } from '../state/session.ts'

/** Bytes of an edited input that the service takes. */
const MAX_EDITED_BYTES = 256_000

/** What an edited input must match if the tool says nothing. */
export const ANY_OBJECT: JsonObject = { type: 'object' }

export const schemaOf = ({ inputSchema }: Pick<ApprovalRecord, 'inputSchema'>): JsonObject =>
  (inputSchema as JsonObject | null | undefined) ?? ANY_OBJECT

type Props = {
  approval: ApprovalRecord
  /** The edited input; null while it is as it was asked. */
  text: string | null
  check: ReturnType<typeof useCheck>
  mayEdit: boolean
  onText: (text: string | null) => void
}

export function InputEditor({ approval, text, check, mayEdit, onText }: Props) {
  const asked = useMemo(() => printJson(approval.input), [approval.input])
  const isLarge = asked.length > MAX_EDITED_BYTES || !isEditable(asked)
  if (text === null)
    return (
      <div class="form">
        <ValueView
          title="Input"
          note={
            mayEdit && !isLarge && <Button label="Edit input" class="small" onClick={() => onText(asked)} />
          }
          value={approval.input}
          label="the input"
          maxRows={60}
        />
        {mayEdit && isLarge && <p class="muted">It is too large to be edited here.</p>}
      </div>
    )
  return (
    <div class="form">
      <div class="toolbar">
        <h3>Input</h3>
        <Button label="Discard changes" class="small" onClick={() => onText(null)} />
      </div>
      {check.error !== null && <p class="muted">The input is not checked here: {check.error}</p>}
      <JsonInput
        text={text}
        label="Input"
        issues={check.issues}
        onChange={onText}
        onClear={() => onText(null)}
      />
    </div>
  )
}

/** Why the agent asks: what it says, and the input of its run. */
export function Reasons({ approval: { executionId, reason } }: Pick<Props, 'approval'>) {
  const mayRead = useScope('read')
  const { data: run } = useResource(`input of ${executionId} ${mayRead}`, (signal) =>
    mayRead ? requestRun(executionId, signal) : Promise.resolve(null),
  )
  return (
    <div class="stack">
      {reason != null && (
        <div>
          <h3>What the agent says</h3>
          <Text class="long-text" text={reason} />
        </div>
      )}
      {run && !run.omitted?.['/input'] && (
        <ValueView title="Input of the run" value={run.input} label="the input of the run" />
      )}
    </div>
  )
}
