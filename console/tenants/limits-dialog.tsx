import type { TargetedSubmitEvent } from 'preact'
import { useId, useMemo, useRef } from 'preact/hooks'
import { MAX_COST_USD, RUNS_PER_MINUTE, TENANT_OPEN_EXECUTIONS } from '../../lib/core/limits.ts'
import type { UsageLimits } from '../../lib/core/usage-limits.ts'
import { send } from '../api/request.ts'
import { Dialog, useAction } from '../components/dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { noEntries, Restored, readEntries, toFormData, useTypedForm } from '../components/typed-form.tsx'
import { limitsPath } from './limits.ts'
import { toLimits } from './limits-form.ts'

const PERCENT = { min: 0.01, max: 100 }

type Props = {
  tenantId: string
  /** Null: it has none yet. */
  limits: UsageLimits | null
  onSave: () => void
  onClose: () => void
}

/** What is typed is kept by this name. */
export const limitsForm = (tenantId: string): string => `limits ${tenantId}`

/** A form that replaces the limits of a tenant. */
export function LimitsDialog({ tenantId, limits, onSave, onClose }: Props) {
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const typed = useTypedForm(limitsForm(tenantId), noEntries)
  const begin = useMemo(() => (typed.isRestored ? toLimits(toFormData(typed.form.entries)) : limits), [])
  const { isRunning, error, start } = useAction(async () => {
    const body = JSON.stringify(toLimits(new FormData(form.current ?? undefined)))
    await send(limitsPath(tenantId), { method: 'PUT', body })
    typed.forget()
    onSave()
  })

  function save(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    void start()
  }

  function close() {
    typed.forget()
    onClose()
  }

  const { maxCostUsd, maxOpenExecutions, maxRunsPerMinute, warnAt, queueWhenFull = false } = begin ?? {}
  const percent = warnAt == null ? null : Math.round(warnAt * 1e4) / 100
  return (
    <Dialog title="Limits" onClose={close}>
      <form
        ref={form}
        class="form"
        onSubmit={save}
        onInput={({ currentTarget }) => typed.set({ entries: readEntries(currentTarget) })}
      >
        <Restored typed={typed} />
        <p class="muted">An empty field sets no limit. Days and months are those of UTC.</p>
        <div class="limits-fields">
          <NumberField
            name="day"
            label="Cost per day (US dollars)"
            value={maxCostUsd?.day}
            range={MAX_COST_USD}
          />
          <NumberField
            name="month"
            label="Cost per month (US dollars)"
            value={maxCostUsd?.month}
            range={MAX_COST_USD}
          />
          <NumberField name="warnAt" label="Warn at (% of a cost limit)" value={percent} range={PERCENT} />
          <NumberField
            name="openRuns"
            label="Open runs (at the same time)"
            value={maxOpenExecutions}
            range={TENANT_OPEN_EXECUTIONS}
            isWhole
          />
          <NumberField
            name="runsPerMinute"
            label="Runs per minute"
            value={maxRunsPerMinute}
            range={RUNS_PER_MINUTE}
            isWhole
          />
        </div>
        <div class="choice">
          <input id={`${id}-queue`} type="checkbox" name="queueWhenFull" defaultChecked={queueWhenFull} />
          <label for={`${id}-queue`}>
            At the limit of open runs, asynchronous runs wait instead of being refused
          </label>
        </div>
        {error && <ErrorBox error={error} />}
        <div class="actions">
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="submit" class="primary" disabled={isRunning}>
            Save limits
          </button>
        </div>
      </form>
    </Dialog>
  )
}

type FieldProps = {
  name: string
  label: string
  value: number | null | undefined
  range: { min: number; max: number }
  isWhole?: boolean
}

function NumberField({ name, label, value, range, isWhole = false }: FieldProps) {
  const id = useId()
  return (
    <div>
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        type="number"
        inputMode={isWhole ? 'numeric' : 'decimal'}
        {...range}
        step={isWhole ? 1 : 'any'}
        defaultValue={value ?? ''}
      />
    </div>
  )
}
