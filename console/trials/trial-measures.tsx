import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { formatCost, formatCount, formatCountOf, formatDuration } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { Card } from '../components/page.tsx'
import { formatChange } from './verdicts.ts'

type Sums = NonNullable<TrialRecord['sums']>

export function TrialMeasures({ sums }: { sums: Sums }) {
  const { compared, runs, costUsd, runTimeMs, steps, schemaViolations } = sums
  const rows = [
    { name: 'Cost of a run', ...costUsd, format: formatCost, isTime: false },
    { name: 'Run time', ...runTimeMs, format: formatDuration, isTime: true },
    { name: 'Steps', ...steps, format: formatCount, isTime: false },
  ]
  return (
    <Card title="Against the originals" class="stack">
      {compared === 0 ? (
        <p>No run can be compared with its original: all of them have failed or diverged.</p>
      ) : (
        <ItemTable
          caption="Originals and runs of the trial"
          items={rows}
          keyOf={({ name }) => name}
          columns={{
            Measure: ({ name }) => name,
            'Original median': { numeric: ({ original, format }) => format(original.median) },
            'Original p95': { numeric: ({ original, format }) => format(original.p95) },
            'Trial median': { numeric: ({ trial, format }) => format(trial.median) },
            'Trial p95': { numeric: ({ trial, format }) => format(trial.p95) },
            Median: ({ original, trial, isTime }) => !isTime && formatChange(original.median, trial.median),
          }}
        />
      )}
      <p class="muted">
        {formatCountOf(compared, 'run')} of {formatCount(runs)} compared, without those that failed or
        diverged. Together, they cost {formatCost(costUsd.trialTotal)}, their originals{' '}
        {formatCost(costUsd.originalTotal)}: what recorded responses had cost counts. Run times are not
        compared: a trial starts many runs at once, and recorded results take no time.
      </p>
      <p class={schemaViolations > 0 ? 'field-error' : 'muted'}>
        {schemaViolations === 0
          ? 'No run has violated a schema of the version.'
          : `${formatCountOf(schemaViolations, 'run has', 'runs have')} violated a schema of the version.`}
      </p>
    </Card>
  )
}
