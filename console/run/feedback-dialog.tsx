import type { TargetedSubmitEvent } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { findVersion } from '../api/agents.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/copy-button.tsx'
import { Dialog, useAction } from '../components/dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { useCheck } from '../schema/run-check.ts'
import { SchemaEditor } from '../schema/schema-editor.tsx'

/** The limit of the API (`lib/contract/records/bodies.ts`). */
const MAX_NOTE_CHARACTERS = 2_000

type Props = { run: ExecutionRecord; onChange: (run: ExecutionRecord) => void; onClose: () => void }

/** Rates a result, and corrects it if wanted. The correction has to match the output schema of the version that ran. */
export function FeedbackDialog({ run, onChange, onClose }: Props) {
  const id = useId()
  const { feedback, output } = run
  const [rating, setRating] = useState<1 | -1>(feedback?.rating ?? 1)
  const [note, setNote] = useState(feedback?.note ?? '')
  const [isCorrected, setIsCorrected] = useState(Boolean(feedback?.correctedOutput))
  const [text, setText] = useState(() => JSON.stringify(feedback?.correctedOutput ?? output ?? {}, null, 2))
  const [problems, setProblems] = useState<string[]>([])
  const version = useResource(`${run.versionId} ${isCorrected}`, async (signal) =>
    isCorrected ? await findVersion(run.documentId, run.versionId, signal) : null,
  )
  // A version that is gone has no schema to edit by: then the service decides.
  const schema: JsonObject = (version.data?.outputSchema as JsonObject | undefined) ?? {}
  const check = useCheck(isCorrected && version.data ? { text, schema, mode: 'adapting' } : null)
  const { isRunning, error, start } = useAction(async () => {
    // The correction is sent as it was typed, so that no number in it is rounded.
    const parts = [
      `"rating":${rating}`,
      `"note":${note.trim() === '' ? 'null' : JSON.stringify(note)}`,
      `"correctedOutput":${isCorrected ? text : 'null'}`,
    ]
    const changed = await requestJson<ExecutionRecord>(`/v1/agent_executions/${run.id}/feedback`, {
      method: 'PUT',
      body: `{${parts.join(',')}}`,
    })
    onChange({ ...run, ...changed })
    announce('The feedback is saved.')
    onClose()
  })

  function save(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    void start()
  }

  const hasMistakes = isCorrected && (check.issues.length > 0 || check.isPending || problems.length > 0)
  return (
    <Dialog title="Feedback" onClose={onClose}>
      <form class="form" onSubmit={save}>
        <p class="muted">
          Runs with dynamic learning show their model similar results that are rated well or corrected.
        </p>
        <fieldset class="choices">
          <legend>The result is</legend>
          <label>
            <input type="radio" name={`${id}-rating`} checked={rating === 1} onChange={() => setRating(1)} />
            good
          </label>
          <label>
            <input
              type="radio"
              name={`${id}-rating`}
              checked={rating === -1}
              onChange={() => setRating(-1)}
            />
            bad
          </label>
        </fieldset>
        <label for={`${id}-note`}>Note for people (optional)</label>
        <textarea
          id={`${id}-note`}
          rows={2}
          maxLength={MAX_NOTE_CHARACTERS}
          value={note}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
        <label class="choice">
          <input
            type="checkbox"
            checked={isCorrected}
            onChange={({ currentTarget }) => setIsCorrected(currentTarget.checked)}
          />
          Correct the output
        </label>
        {isCorrected && version.isLoading && <p class="muted">Loading the output schema…</p>}
        {isCorrected && version.error && <ErrorBox error={version.error} onRetry={version.reload} />}
        {isCorrected && !version.isLoading && !version.error && (
          <SchemaEditor
            text={text}
            schema={schema}
            label="Corrected output"
            issues={check.issues}
            onChange={setText}
            onProblems={setProblems}
          />
        )}
        {isCorrected && check.error !== null && <p class="field-error">{check.error}</p>}
        {error && <ErrorBox error={error} />}
        <div class="actions">
          {hasMistakes && !check.isPending && <span class="field-error">Correct the mistakes first.</span>}
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button type="submit" class="primary" disabled={isRunning || hasMistakes}>
            Save feedback
          </button>
        </div>
      </form>
    </Dialog>
  )
}
