import { MAX_COST_USD, RUNS_PER_MINUTE, TENANT_OPEN_EXECUTIONS } from '../../lib/core/limits.ts'
import type { UsageLimits } from '../../lib/core/usage-limits.ts'
import { put } from '../api/request.ts'
import { CheckField } from '../components/field.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useTypedForm } from '../components/typed-form.tsx'
import { limitsPath } from './limits.ts'

type Props = {
  tenantId: string
  limits: UsageLimits | null
  onSave: () => void
  onClose: () => void
}

export const limitsForm = (tenantId: string): string => `limits ${tenantId}`

/** Limits as they are typed. An empty field sets no limit. */
type LimitsForm = Record<'day' | 'month' | 'warnAt' | 'openRuns' | 'runsPerMinute', string> & {
  queueWhenFull: boolean
}

const toForm = (limits: UsageLimits | null): LimitsForm => ({
  day: toText(limits?.maxCostUsd.day),
  month: toText(limits?.maxCostUsd.month),
  warnAt: toText(limits?.warnAt == null ? null : Math.round(limits.warnAt * 1e4) / 100),
  openRuns: toText(limits?.maxOpenExecutions),
  runsPerMinute: toText(limits?.maxRunsPerMinute),
  queueWhenFull: limits?.queueWhenFull ?? false,
})

const toText = (value: number | null | undefined): string => value?.toString() ?? ''

export function toLimits(form: LimitsForm): UsageLimits {
  const toNumber = (text: string) => (text.trim() === '' ? null : Number(text))
  const percent = toNumber(form.warnAt)
  return {
    maxOpenExecutions: toNumber(form.openRuns),
    maxRunsPerMinute: toNumber(form.runsPerMinute),
    maxCostUsd: { day: toNumber(form.day), month: toNumber(form.month) },
    warnAt: percent === null ? null : percent / 100,
    queueWhenFull: form.queueWhenFull,
  }
}

const FIELDS = {
  day: { label: 'Cost per day (US dollars)', range: MAX_COST_USD },
  month: { label: 'Cost per month (US dollars)', range: MAX_COST_USD },
  warnAt: { label: 'Warn at (% of a cost limit)', range: { min: 0.01, max: 100 } },
  openRuns: { label: 'Open runs (at the same time)', range: { ...TENANT_OPEN_EXECUTIONS, step: 1 } },
  runsPerMinute: { label: 'Runs per minute', range: { ...RUNS_PER_MINUTE, step: 1 } },
}

export function LimitsDialog({ tenantId, limits, onSave, onClose }: Props) {
  const typed = useTypedForm(limitsForm(tenantId), () => toForm(limits))
  async function save() {
    await put(limitsPath(tenantId), { json: toLimits(typed.form) })
    onClose()
    onSave()
  }
  return (
    <FormDialog title="Limits" submit="Save limits" typed={typed} send={save} onClose={onClose}>
      <p class="muted">An empty field sets no limit. Days and months are those of UTC.</p>
      {typed.row(FIELDS)}
      <CheckField
        label="At the limit of open runs, asynchronous runs wait instead of being refused"
        {...typed.field('queueWhenFull')}
      />
    </FormDialog>
  )
}
