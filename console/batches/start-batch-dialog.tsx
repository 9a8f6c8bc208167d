import { useMemo, useState } from 'preact/hooks'
import type { BatchRecord } from '../../lib/contract/records/batch.ts'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import { MAX_CONCURRENCY } from '../../lib/core/batch.ts'
import { MAX_COST_USD } from '../../lib/core/limits.ts'
import type { ApiError } from '../api/api-error.ts'
import { newIdempotencyKey, post } from '../api/request.ts'
import { announce } from '../components/button.tsx'
import { Field } from '../components/field.tsx'
import { AgentField } from '../components/filter-bar.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { formatBytes, formatCount, formatCountOf } from '../components/format.ts'
import { ErrorBox } from '../components/page.tsx'
import { useTypedForm } from '../components/typed-form.tsx'
import { Text, TextList } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { mediaTypeOf, NO_BATCH_OPTIONS, toBatchQuery } from './batches.ts'

/** Bytes that a request can have: the service counts quotes and line breaks twice. */
const MAX_FILE_BYTES = 6_000_000
const EXAMPLE = '{"customId": "line-1", "input": {"text": "…"}}'

const TENANT = { tenantId: { label: 'Tenant', maxLength: MAX_TENANT_ID, placeholder: 'none' } }
const LIMITS = {
  maxConcurrency: {
    ...{ label: 'Lines at the same time', placeholder: String(MAX_CONCURRENCY.default) },
    range: { ...MAX_CONCURRENCY, step: 1 },
  },
  maxBatchCostUsd: { label: 'Cost at most (US dollars)', range: MAX_COST_USD, placeholder: 'no limit' },
  enforceInputSchema: {
    label: 'Inputs that do not match the schema',
    choices: [
      ['', 'As the agent says'],
      ['true', 'Strict: reject them'],
      ['false', 'Adapt them'],
    ] as const,
  },
}

export const batchForm = (agent: string): string => `batch ${agent}`

export function StartBatchDialog({ agent: given, onClose }: { agent: string; onClose: () => void }) {
  const boundTenant = useMe()?.tenantId ?? null
  const typed = useTypedForm(batchForm(given), () => ({ agent: given, ...NO_BATCH_OPTIONS }))
  const { agent, ...options } = typed.form
  const [file, setFile] = useState<{ text: string; bytes: number; chosenAt: number } | null>(null)
  /** What the service has found valid, and how many lines of it there are. */
  const [checked, setChecked] = useState<{ request: string; lines: number } | null>(null)
  const request = JSON.stringify([typed.form, file?.chosenAt])
  const lines = checked?.request === request ? checked.lines : null
  // The same key for the same batch: sent twice, it starts once.
  const key = useMemo(newIdempotencyKey, [request])

  const ask = <T,>(query: object) =>
    post<T>(`/v1/agents/${encodeURIComponent(agent)}/batches`, {
      query: { ...toBatchQuery(options), ...query },
      body: file?.text ?? '',
      headers: { 'Content-Type': mediaTypeOf(file?.text ?? ''), 'Idempotency-Key': key },
    })
  async function send(): Promise<boolean> {
    if (lines === null) {
      const valid = await ask<{ lines: number }>({ validateOnly: true })
      setChecked({ request, lines: valid.lines })
      announce(`${formatCountOf(valid.lines, 'line')} are valid.`)
      return false
    }
    const batch = await ask<BatchRecord>({})
    announce('The batch has started.')
    onClose()
    navigate(toHref(toPath('batches', batch.id)))
    return true
  }

  async function choose(input: HTMLInputElement) {
    const [chosen] = input.files ?? []
    setFile(chosen ? { text: await chosen.text(), bytes: chosen.size, chosenAt: performance.now() } : null)
  }

  const tooLarge = `The file has ${formatBytes(file?.bytes ?? 0)}. A batch has at most ${formatBytes(MAX_FILE_BYTES)}: split it.`
  const isTooLarge = file !== null && file.bytes > MAX_FILE_BYTES
  return (
    <FormDialog
      title="Start a batch"
      submit={lines === null ? 'Check' : `Start ${formatCountOf(lines, 'run')}`}
      {...(lines === null && { busy: 'Checking…' })}
      isReady={!isTooLarge}
      note="The file is not kept: choose it again."
      showError={(error) => <LineErrors error={error} />}
      {...{ typed, send, onClose }}
    >
      <AgentField value={agent} onChange={(text) => typed.set({ agent: text.trim() })} />
      <Field
        label="Inputs"
        help={
          <>
            A line for each input, or a JSON list of these: <code>{EXAMPLE}</code>
          </>
        }
        problems={isTooLarge ? [tooLarge] : []}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="file"
            required
            accept=".ndjson,.jsonl,.json,application/json,application/x-ndjson"
            onChange={({ currentTarget }) => choose(currentTarget)}
          />
        )}
      </Field>
      {typed.row(boundTenant === null ? { ...TENANT, ...LIMITS } : LIMITS)}
      {lines !== null && (
        <p role="status">
          {lines === 1 ? '1 line is valid' : `${formatCount(lines)} lines are valid`}. Starting runs the
          current version of the agent with each of them, which costs as any run. You can cancel the batch.
        </p>
      )}
    </FormDialog>
  )
}

function LineErrors({ error }: { error: ApiError }) {
  const errors = error.problem?.errors ?? []
  if (error.code !== 'InputSchemaMismatch' || errors.length === 0) return <ErrorBox error={error} />
  return (
    <section class="error-box" role="alert">
      <h2>Some lines are wrong</h2>
      <Text text={error.message} />
      <TextList class="plain-list box" texts={errors.map(({ message }) => message)} />
    </section>
  )
}
