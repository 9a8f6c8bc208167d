import { useMemo, useState } from 'preact/hooks'
import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { Button } from '../components/button.tsx'
import { printJson } from '../components/json-tree.ts'
import { JsonView, TextPortions } from '../components/json-view.tsx'
import { Segments } from '../components/page.tsx'
import { JsonInput } from '../schema/json-editor.tsx'
import type { useCheck } from '../schema/run-check.ts'
import { isEditable } from '../schema/use-large-input.ts'

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
  const [view, setView] = useState<'tree' | 'text'>('tree')
  const asked = useMemo(() => printJson(approval.input), [approval.input])
  const isLarge = asked.length > MAX_EDITED_BYTES || !isEditable(asked)
  return (
    <div class="form">
      <div class="toolbar">
        <h3>Input</h3>
        <div class="actions">
          {text === null && (
            <Segments
              label="Show the input as"
              choices={{ tree: 'JSON', text: 'Text' }}
              chosen={view}
              onChoose={setView}
            />
          )}
          {mayEdit && text === null && !isLarge && (
            <Button label="Edit input" class="small" onClick={() => onText(asked)} />
          )}
          {text !== null && <Button label="Discard changes" class="small" onClick={() => onText(null)} />}
        </div>
      </div>
      {mayEdit && isLarge && <p class="muted">It is too large to be edited here.</p>}
      {text !== null ? (
        <Edited text={text} check={check} onText={onText} />
      ) : view === 'tree' ? (
        <JsonView value={approval.input} label="the input" />
      ) : (
        <pre class="box">
          <TextPortions text={asked} />
        </pre>
      )}
    </div>
  )
}

const Edited = ({ text, check, onText }: Pick<Props, 'check' | 'onText'> & { text: string }) => (
  <>
    {check.error !== null && <p class="muted">The input is not checked here: {check.error}</p>}
    <JsonInput
      text={text}
      label="Input"
      issues={check.issues}
      onChange={onText}
      onClear={() => onText(null)}
    />
  </>
)
