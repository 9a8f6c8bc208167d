import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { Card, Table } from '../components/data.tsx'
import { formatCost, formatCount, formatCountOf, formatDuration } from '../components/format.ts'
import { formatChange } from './verdicts.ts'

type Sums = NonNullable<TrialRecord['sums']>

/** Cost, run time and steps of both sides. */
export function TrialMeasures({ sums }: { sums: Sums }) {
  const { compared, runs, costUsd, runTimeMs, steps, schemaViolations } = sums
  const rows = [
    { name: 'Cost of a run', ...costUsd, format: formatCost },
    { name: 'Run time', ...runTimeMs, format: formatDuration },
    { name: 'Steps', ...steps, format: formatCount },
  ]
  return (
    <Card title="Against the originals" class="stack">
      {compared === 0 ? (
        <p>No run can be compared with its original: all of them have failed or diverged.</p>
      ) : (
        <Table
          caption="Originals and runs of the trial"
          columns={[
            'Measure',
            ...['Original median', 'Original p95', 'Trial median', 'Trial p95'].map((label) => ({
              label,
              isNumeric: true,
            })),
            'Median',
          ]}
        >
          {rows.map(({ name, original, trial, format }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="numeric">{format(original.median)}</td>
              <td class="numeric">{format(original.p95)}</td>
              <td class="numeric">{format(trial.median)}</td>
              <td class="numeric">{format(trial.p95)}</td>
              <td>{formatChange(original.median, trial.median)}</td>
            </tr>
          ))}
        </Table>
      )}
      <p class="muted">
        {formatCountOf(compared, 'run')} of {formatCount(runs)} compared, without those that failed or
        diverged. Together, they cost {formatCost(costUsd.trialTotal)}, their originals{' '}
        {formatCost(costUsd.originalTotal)}: what recorded responses had cost counts.
      </p>
      <p class={schemaViolations > 0 ? 'field-error' : 'muted'}>
        {schemaViolations === 0
          ? 'No run has violated a schema of the version.'
          : `${formatCountOf(schemaViolations, 'run has', 'runs have')} violated a schema of the version.`}
      </p>
    </Card>
  )
}
