import type { TargetedSubmitEvent } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import type { BatchRecord } from '../../lib/contract/records/batch-record.ts'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import { MAX_CONCURRENCY } from '../../lib/core/batch.ts'
import { MAX_COST_USD } from '../../lib/core/limits.ts'
import type { ApiError } from '../api/api-error.ts'
import { newIdempotencyKey } from '../api/idempotency-key.ts'
import { requestJson } from '../api/request.ts'
import { announce } from '../components/copy-button.tsx'
import { Dialog, useAction } from '../components/dialog.tsx'
import { Field, NumberField } from '../components/field.tsx'
import { AgentInput } from '../components/filter-bar.tsx'
import { formatBytes, formatCount, formatCountOf } from '../components/format.ts'
import { ErrorBox } from '../components/page.tsx'
import { Restored, useTypedForm } from '../components/typed-form.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { type BatchOptions, mediaTypeOf, NO_BATCH_OPTIONS, toBatchQuery } from './batches.ts'

/** Bytes that a request can have: the service counts quotes and line breaks twice. */
const MAX_FILE_BYTES = 6_000_000
const EXAMPLE = '{"customId": "line-1", "input": {"text": "…"}}'

type Props = { agent: string; onClose: () => void }

/** What is typed is kept by this name. */
export const batchForm = (agent: string): string => `batch ${agent}`

/** Starts a batch with the lines of a file, after the service has checked them. */
export function StartBatchDialog({ agent: given, onClose }: Props) {
  const id = useId()
  const boundTenant = useMe()?.tenantId ?? null
  const typed = useTypedForm(batchForm(given), () => ({ agent: given, ...NO_BATCH_OPTIONS }))
  const { agent, ...options } = typed.form
  const [file, setFile] = useState<{ name: string; text: string; bytes: number } | null>(null)
  /** The number of lines, once the service has found them valid. */
  const [checked, setChecked] = useState<number | null>(null)
  const key = useRef(newIdempotencyKey())
  /** What is sent has changed. */
  function reset() {
    setChecked(null)
    key.current = newIdempotencyKey()
  }
  const set = (change: Partial<BatchOptions & { agent: string }>) => {
    typed.set(change)
    reset()
  }
  function close() {
    typed.forget()
    onClose()
  }

  const send = <T,>(query: object) =>
    requestJson<T>(`/v1/agents/${encodeURIComponent(agent)}/batches`, {
      method: 'POST',
      query: { ...toBatchQuery(options), ...query },
      body: file?.text ?? '',
      headers: { 'Content-Type': mediaTypeOf(file?.text ?? ''), 'Idempotency-Key': key.current },
    })
  const check = useAction(async () => {
    const { lines } = await send<{ lines: number }>({ validateOnly: true })
    setChecked(lines)
    announce(`${formatCountOf(lines, 'line')} are valid.`)
  })
  const start = useAction(async () => {
    const batch = await send<BatchRecord>({})
    announce('The batch has started.')
    close()
    navigate(toHref(toPath('batches', batch.id)))
  })
  const isRunning = check.isRunning || start.isRunning

  function submit(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    void (checked === null ? check.start() : start.start())
  }

  async function choose(input: HTMLInputElement) {
    const [chosen] = input.files ?? []
    setFile(chosen ? { name: chosen.name, text: await chosen.text(), bytes: chosen.size } : null)
    reset()
  }

  const isTooLarge = file !== null && file.bytes > MAX_FILE_BYTES
  const error = checked === null ? check.error : start.error
  return (
    <Dialog title="Start a batch" onClose={close}>
      <form class="form" onSubmit={submit}>
        <Restored typed={typed}>The file is not kept: choose it again.</Restored>
        <div class="batch-field">
          <label for={`${id}-agent`}>Agent</label>
          <AgentInput
            id={`${id}-agent`}
            value={agent}
            required
            onCommit={(text) => set({ agent: text.trim() })}
          />
        </div>
        <div class="batch-field">
          <label for={`${id}-file`}>Inputs</label>
          <input
            id={`${id}-file`}
            type="file"
            required
            accept=".ndjson,.jsonl,.json,application/json,application/x-ndjson"
            aria-describedby={`${id}-file-help`}
            onChange={({ currentTarget }) => choose(currentTarget)}
          />
          <p id={`${id}-file-help`} class="muted">
            A line for each input, or a JSON list of these: <code>{EXAMPLE}</code>
          </p>
          {isTooLarge && (
            <p class="field-error" role="alert">
              The file has {formatBytes(file.bytes)}. A batch has at most {formatBytes(MAX_FILE_BYTES)}: split
              it.
            </p>
          )}
        </div>
        <div class="batch-options">
          {boundTenant === null && (
            <Field class="batch-field" label="Tenant">
              {(attributes) => (
                <input
                  {...attributes}
                  maxLength={MAX_TENANT_ID}
                  placeholder="none"
                  autocomplete="off"
                  value={options.tenantId}
                  onInput={({ currentTarget }) => set({ tenantId: currentTarget.value })}
                />
              )}
            </Field>
          )}
          <NumberField
            class="batch-field"
            label="Lines at the same time"
            value={options.maxConcurrency}
            range={{ ...MAX_CONCURRENCY, step: 1 }}
            placeholder={String(MAX_CONCURRENCY.default)}
            onInput={(maxConcurrency) => set({ maxConcurrency })}
          />
          <NumberField
            class="batch-field"
            label="Cost at most (US dollars)"
            value={options.maxBatchCostUsd}
            range={MAX_COST_USD}
            placeholder="no limit"
            onInput={(maxBatchCostUsd) => set({ maxBatchCostUsd })}
          />
        </div>
        <label class="choice">
          <input
            type="checkbox"
            checked={options.enforceInputSchema}
            onChange={({ currentTarget }) => set({ enforceInputSchema: currentTarget.checked })}
          />
          Strict: reject inputs that do not match the schema
        </label>
        {error && !isRunning && <LineErrors error={error} />}
        {checked !== null && (
          <p class="batch-checked" role="status">
            {checked === 1 ? '1 line is valid' : `${formatCount(checked)} lines are valid`}. Starting runs the
            current version of the agent with each of them, which costs as any run. You can cancel the batch.
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="submit" class="primary" disabled={isRunning || isTooLarge}>
            {checked === null
              ? check.isRunning
                ? 'Checking…'
                : 'Check'
              : `Start ${formatCountOf(checked, 'run')}`}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** What is wrong with the lines, each with its number. */
function LineErrors({ error }: { error: ApiError }) {
  const errors = error.problem?.errors ?? []
  if (error.code !== 'InputSchemaMismatch' || errors.length === 0) return <ErrorBox error={error} />
  return (
    <section class="error-box" role="alert">
      <h2>Some lines are wrong</h2>
      <p>
        <VisibleText text={error.message} />
      </p>
      <ul class="batch-errors">
        {errors.map(({ path, message }, index) => (
          <li key={`${index} ${path}`}>
            <VisibleText text={message} />
          </li>
        ))}
      </ul>
    </section>
  )
}
