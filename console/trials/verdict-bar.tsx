import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { VERDICTS, type Verdict } from '../../lib/core/trial.ts'
import { formatCount } from '../components/format.ts'
import { PartsBar } from '../components/small-charts.tsx'
import { Badge } from '../components/values.tsx'
import { countVerdicts, stateOf, VERDICT_LABELS, VERDICT_MEANINGS } from './verdicts.ts'

type Props = {
  verdicts: Record<Verdict, number>
  /** Lines without a verdict: not ended, or not started. */
  open: number
}

const COLORS: Record<Verdict, string> = {
  ...{ SAME: 'var(--series-2)', CHANGED: 'var(--warning)', CORRECTED: 'var(--series-1)' },
  EQUIVALENT: 'color-mix(in srgb, var(--series-2), var(--warning))',
  ...{ REGRESSED: 'var(--danger)', DIVERGED: 'var(--json-literal)', ERROR: 'var(--series-3)' },
}

const Mark = ({ verdict }: { verdict: Verdict }) => (
  <span class="verdict-mark" style={{ background: COLORS[verdict] }} aria-hidden="true" />
)

/** How the verdicts are distributed. The list beside it has the numbers. */
export const VerdictBar = ({ verdicts, open }: Props) => (
  <PartsBar
    parts={VERDICTS.map((verdict) => ({ size: verdicts[verdict], color: COLORS[verdict] }))}
    total={open + VERDICTS.reduce((sum, verdict) => sum + verdicts[verdict], 0)}
  />
)

type CountsProps = {
  verdicts: Record<Verdict, number>
  lines: number
  chosen: Verdict | null
  hrefOf: (verdict: Verdict | null) => string
}

/** How many runs have each verdict. Each is a link that shows only these. */
export const VerdictCounts = ({ verdicts, lines, chosen, hrefOf }: CountsProps) => (
  <ul class="actions plain-list verdict-counts" aria-label="Runs by verdict">
    <li>
      <a class="button small" href={hrefOf(null)} aria-current={chosen === null ? 'true' : undefined}>
        All <strong>{formatCount(lines)}</strong>
      </a>
    </li>
    {VERDICTS.map((verdict) => (
      <li key={verdict}>
        <a
          class="button small"
          href={hrefOf(verdict)}
          aria-current={chosen === verdict ? 'true' : undefined}
          title={VERDICT_MEANINGS[verdict]}
        >
          <Mark verdict={verdict} />
          {VERDICT_LABELS[verdict]} <strong>{formatCount(verdicts[verdict])}</strong>
        </a>
      </li>
    ))}
  </ul>
)

export const describeVerdicts = (verdicts: Record<Verdict, number>): string =>
  countVerdicts(verdicts).join(', ') || 'no verdict yet'

export const VerdictBadge = ({ verdict }: { verdict: Verdict }) => (
  <span class="badge" title={VERDICT_MEANINGS[verdict]}>
    <Mark verdict={verdict} />
    {VERDICT_LABELS[verdict]}
  </span>
)

export function TrialBadge({ trial }: { trial: Pick<TrialRecord, 'status' | 'error'> }) {
  const { kind, label } = stateOf(trial)
  return <Badge kind={kind}>{label}</Badge>
}
