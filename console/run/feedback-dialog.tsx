import { useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { findVersion } from '../api/agents.ts'
import { put } from '../api/request.ts'
import { pathOfRun } from '../api/runs.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/button.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { useForm } from '../components/typed-form.tsx'
import { useCheck } from '../schema/run-check.ts'
import { SchemaEditor } from '../schema/schema-editor.tsx'

/** The limit of the API (`lib/contract/bodies/replies.ts`). */
const MAX_NOTE_CHARACTERS = 2_000

const FIELDS = {
  rating: { label: 'The result is', radios: { good: 'good', bad: 'bad' } },
  note: {
    label: 'Note for people (optional)',
    maxLength: MAX_NOTE_CHARACTERS,
    isLong: true,
    spellcheck: true,
  },
  isCorrected: { label: 'Correct the output' },
}

type Props = { run: ExecutionRecord; onChange: (run: ExecutionRecord) => void; onClose: () => void }

/** Rates a result, and corrects it if wanted. The correction has to match the output schema of the version that ran. */
export function FeedbackDialog({ run, onChange, onClose }: Props) {
  const { feedback, output } = run
  const form = useForm(() => ({
    rating: feedback?.rating === -1 ? ('bad' as const) : ('good' as 'good' | 'bad'),
    note: feedback?.note ?? '',
    isCorrected: Boolean(feedback?.correctedOutput),
    text: JSON.stringify(feedback?.correctedOutput ?? output ?? {}, null, 2),
  }))
  const { rating, note, isCorrected, text } = form.form
  const [problems, setProblems] = useState<string[]>([])
  const version = useResource(`${run.versionId} ${isCorrected}`, async (signal) =>
    isCorrected ? await findVersion(run.documentId, run.versionId, signal) : null,
  )
  // A version that is gone has no schema to edit by: then the service decides.
  const schema: JsonObject = (version.data?.outputSchema as JsonObject | undefined) ?? {}
  const check = useCheck(isCorrected && version.data ? { text, schema, mode: 'adapting' } : null)
  async function send() {
    // The correction is sent as it was typed, so that no number in it is rounded.
    const parts = [
      `"rating":${rating === 'good' ? 1 : -1}`,
      `"note":${note.trim() === '' ? 'null' : JSON.stringify(note)}`,
      `"correctedOutput":${isCorrected ? text : 'null'}`,
    ]
    const changed = await put<ExecutionRecord>(`${pathOfRun(run.id)}/feedback`, {
      body: `{${parts.join(',')}}`,
    })
    onChange({ ...run, ...changed })
    announce('The feedback is saved.')
    onClose()
  }

  const hasMistakes = isCorrected && (check.issues.length > 0 || check.isPending || problems.length > 0)
  return (
    <FormDialog
      title="Feedback"
      submit="Save feedback"
      isReady={!hasMistakes}
      obstacle={hasMistakes && !check.isPending && 'Correct the mistakes first.'}
      {...{ send, onClose }}
    >
      <p class="muted">
        Runs with dynamic learning show their model similar results that are rated well or corrected.
      </p>
      {form.fields(FIELDS)}
      {isCorrected && version.isLoading && <p class="muted">Loading the output schema…</p>}
      {isCorrected && version.error && <ErrorBox error={version.error} onRetry={version.reload} />}
      {isCorrected && !version.isLoading && !version.error && (
        <SchemaEditor
          {...{ text, schema }}
          label="Corrected output"
          issues={check.issues}
          onChange={(changed) => form.set({ text: changed })}
          onProblems={setProblems}
        />
      )}
      {isCorrected && check.error !== null && <p class="field-error">{check.error}</p>}
    </FormDialog>
  )
}
